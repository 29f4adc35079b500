"""The results as text: one table for a single node, one for the fleet."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console
from rich.table import Table

from kvtui.plan import Topology
from kvtui.result_words import (
    answer_lines,
    economics_lines,
    neighbours,
    pair_line,
    percentile_lines,
    repeat_cells,
    repeat_lines,
    reuse_words,
    sure_cells,
)
from kvtui.results import Result, Row

DASH = "–"
_TITLES = {
    Topology.SINGLE: "Single: cold and cached on the same node",
    Topology.FLEET: "Fleet: cold on one node, cached on another",
}
_EXPLAINED = (
    "Medians; n is the number of documents behind them. Speedup is cold ÷ cached, a document at a time.",
    "Reuse counts documents whose KV was reused whole. KV is what the cached pass reused; throughput is KV ÷ "
    "cached TTFT, a document at a time, so the engine's overhead is in it.",
)


def _ms(value: float | None, n: int) -> str:
    if value is None:
        return DASH
    return f"{value:,.1f} (n={n})" if value < 100 else f"{value:,.0f} (n={n})"


def _ratio(value: float | None) -> str:
    return DASH if value is None else f"{value:.2f}×"


def _mib(value: int | None) -> str:
    return DASH if value is None else f"{value / 1024**2:,.0f} MiB"


def _rate(value: float | None) -> str:
    return DASH if value is None else f"{value / 1e9:.2f} GB/s"


def cells(row: Row) -> tuple[str, ...]:
    """A row of the tables: tier, cold, cached, speedup, worst document, reuse, KV, throughput."""
    worst = DASH if row.worst_speedup is None else f"{_ratio(row.worst_speedup)} {row.worst_document}"
    return (
        row.tier,
        _ms(row.cold_ms, row.cold_n),
        _ms(row.cached_ms, row.cached_n),
        _ratio(row.speedup),
        worst,
        reuse_words(row),
        _mib(row.reused_bytes),
        _rate(row.throughput_bytes_s),
    )


def _table(topology: Topology, rows: tuple[Row, ...]) -> Table:
    table = Table(title=_TITLES[topology], title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tier")
    for heading in ("cold ms", "cached ms", "speedup", "worst document", "reuse", "KV", "throughput"):
        table.add_column(heading, justify="left" if heading == "worst document" else "right", no_wrap=True)
    for row in rows:
        table.add_row(*cells(row))
    return table


_SURE_EXPLAINED = (
    "The interval holds the true median with the level beside it, by order statistics: at least 95 %, "
    "whatever the noise. H–L is the Hodges–Lehmann estimate. n ± 5 % is how many documents would give the "
    "speedup within 5 %.",
)


def _sure_table(topology: Topology, rows: tuple[Row, ...]) -> Table:
    title = f"How sure, {topology}: cold ÷ cached, and cold − cached in ms"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tier")
    headings = ("speedup", "interval (level)", "H–L", "saved ms", "interval (level)", "H–L", "n ± 5 %")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.tier, *sure_cells(row))
    return table


def _repeat_table(rows: tuple[Row, ...]) -> Table:
    title = "Repeat by repeat; a document's figure above is the median over its repeats"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("tier")
    table.add_column("topology")
    for heading in ("repeat", "cold ms", "cached ms", "speedup", "reuse", "requests of the run"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        names = (row.tier, row.topology)
        for one in row.by_repeat:
            table.add_row(*names, *repeat_cells(one))
            names = ("", "")
    return table


def _worth_table(result: Result) -> Table:
    title = "Price of storing and gain of a hit, against the engine without a cache, by document"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("tier", "topology", "what", "median, interval (level), n"):
        table.add_column(heading, no_wrap=True)
    for found in result.economics:
        tier, topology = found.tier, found.topology
        for what, figure in economics_lines(found):
            table.add_row(tier, topology, what, figure)
            tier = topology = ""
    return table


def result_text(result: Result) -> str:
    """The result as plain text, for standard output."""
    out = io.StringIO()
    console = Console(file=out, width=120, no_color=True, highlight=False, markup=False, emoji=False)
    for topology in Topology:
        rows = tuple(row for row in result.rows if row.topology == topology)
        if rows:
            console.print(_table(topology, rows))
        if any(row.ratio for row in rows):
            console.print(_sure_table(topology, rows))
        for row in rows:
            if row.served:
                console.print(f"{row.tier}: cached requests served by {row.served}, by counts of bytes")
            for name, words in (*percentile_lines(row), *answer_lines(row)):
                console.print(f"{row.tier}: {name} {words}")
        ranking = tuple(neighbours(result.pairs, topology))
        if ranking:
            console.print(f"Cached, tier against tier by document, {topology}:")
        for pair in ranking:
            console.print(f"  {pair_line(pair)}")
        if ranking:
            console.print()
    repeated = tuple(row for row in result.rows if row.repeats > 1)
    if repeated:
        console.print(_repeat_table(repeated))
    for row in repeated:
        if row.needed_repeats is not None:
            console.print(f"{row.tier}, {row.topology}: {dict(repeat_lines(row))['for ± 5 %']} for ± 5 %.")
    if result.economics:
        console.print(_worth_table(result))
    if result.rows:
        for line in (*_EXPLAINED, *_SURE_EXPLAINED):
            console.print(line)
    for note in result.notes:
        console.print(note)
    for finding in result.findings:
        console.print(finding.line())
    nothing = "" if result.rows else " No request was measured."
    ending = f"Run {result.run}: {result.state}.{nothing}" + (f" {result.reason}" if result.reason else "")
    console.print(ending)
    return out.getvalue()
