"""An assessment as text: what fits, what is shared, what it will take, what is wrong."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from kvtui.check import Agreement, Assessment, Difference, Forecast, SharingTable, TierFit
from kvtui.check.words import gib, ms, number
from kvtui.findings import Finding
from kvtui.loglines import clean
from kvtui.plan import Plan
from kvtui.tier_order import tier_order

DASH = "–"
# So many repeats are told tier by tier.
_ROWS = 4
_AGREEMENT = {Agreement.EQUAL: "✓ equal", Agreement.DIFFERS: "✗ differs", Agreement.UNKNOWN: "· unknown"}


def _console(width: int = 120) -> tuple[io.StringIO, Console]:
    out = io.StringIO()
    return out, Console(file=out, width=width, no_color=True, highlight=False, markup=False, emoji=False)


def _table(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()
) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(clean, row))
    return table


def assessment_text(plan: Plan, found: Assessment, duration: str) -> str:
    """The whole assessment as plain text.

    Args:
        plan: The plan.
        found: Its assessment.
        duration: How long the run takes, in words; empty when unknown.
    """
    out, console = _console()
    for line in _head(plan, found):
        console.print(clean(line))
    console.print()
    if found.fits:
        console.print(_fit_table(plan, found.fits))
    if found.sharing:
        console.print(_sharing_table(found.sharing))
        console.print(clean(found.sharing.text) + "\n")
    console.print(_forecast_table(found.forecast))
    console.print(clean(_takes(found.forecast, duration)))
    console.print(clean(found.recommendation.sentence))
    for line in found.recommendation.arithmetic:
        console.print(f"  {clean(line)}")
    for line in finding_lines(found.findings):
        console.print(line)
    return _trimmed(out.getvalue())


def finding_lines(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Each finding on a line, its code in brackets at the end; one line when there is none."""
    lines = tuple(clean(f"{one.line()} [{one.code}]") for one in findings)
    return lines or ("✓ Nothing was found that speaks against this plan.",)


def _trimmed(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip("\n").split("\n"))


def _head(plan: Plan, found: Assessment) -> Iterator[str]:
    corpus = plan.corpus
    prefix = f" after {corpus.prefix_tokens:,} in common" if corpus.prefix_tokens else ""
    documents = f"{corpus.documents:,} documents × {corpus.tokens:,} tokens{prefix}"
    yield f"Plan {plan.name}: {documents}, {plan.model.path}"
    yield _order(plan)
    kv = found.kv
    if kv is None:
        yield "The size of its KV is unknown."
        return
    yield f"{kv.token_bytes:,} bytes of KV a token ({kv.source})"
    document = f"{gib(kv.document_bytes)} a document in {kv.document_chunks:,} chunks"
    yield f"{document}, {gib(kv.working_set_bytes)} in all"


def _order(plan: Plan) -> str:
    """In which order documents and tiers come."""
    passes = plan.passes
    shuffled = passes.cold_order == "shuffled"
    cold = f"in an order shuffled from seed {passes.shuffle_seed}" if shuffled else "as listed"
    if passes.repeats == 1:
        return f"Cold passes take the documents {cold}."
    rows = tier_order(tuple(tier.name for tier in plan.tiers), passes.repeats)
    shown = "; ".join(", ".join(row) for row in rows[:_ROWS]) + ("; …" if len(rows) > _ROWS else "")
    anew = ", another one in each repeat" if shuffled else ""
    tiers = f"{passes.repeats} repeats, the tiers in the order {shown}."
    return f"{tiers} Cold passes take the documents {cold}{anew}."


def _size(size_bytes: int | None) -> str:
    return DASH if size_bytes is None else gib(size_bytes)


def _fit_table(plan: Plan, fits: Iterable[TierFit]) -> Table:
    topologies = plan.passes.topologies
    rows = [
        (
            fit.tier,
            _size(fit.capacity_bytes),
            _size(fit.needed_bytes),
            DASH if fit.limit_gib is None else f"{number(fit.limit_gib)} GiB",
            *(str(fit.reuse.get(topology, DASH)) for topology in topologies),
            fit.reason,
        )
        for fit in fits
    ]
    figures = ("capacity", "needed", "at most", *topologies)
    return _table("Fit: documents that a cached pass finds whole", ("tier", *figures, "why"), rows, figures)


def _sharing_table(sharing: SharingTable) -> Table:
    nodes = tuple(sharing.rows[0].values)
    rows = [
        (
            row.name,
            *(row.values[node] or DASH for node in nodes),
            _AGREEMENT[row.agreement] + (f"; {row.note}" if row.note else ""),
        )
        for row in sharing.rows
    ]
    return _table("Sharing: what both nodes' keys are made of", ("", *nodes, "verdict"), rows)


def _forecast_table(found: Forecast) -> Table:
    rows = [
        (
            one.tier,
            one.topology,
            DASH if one.floor_ms is None else ms(one.floor_ms),
            DASH if one.prefill_ms is None else ms(one.prefill_ms),
            DASH if one.speedup is None else f"{one.speedup:.2f}×",
            DASH if one.break_even_hits is None else f"{one.break_even_hits:.2g}",
            one.text,
        )
        for one in found.tiers
    ]
    figures = ("floor", "prefill", "speedup", "break-even hits")
    return _table("Forecast: a cached document", ("tier", "", *figures, "why"), rows, figures)


def _takes(found: Forecast, duration: str) -> str:
    time = f"The run takes about {duration}" if duration else "How long the run takes is unknown"
    cost = "its cost is unknown" if found.cost is None else f"it costs {found.cost:,.2f}"
    return f"{time} ({found.duration_basis}); {cost} ({found.cost_basis})."


def differences_text(a: str, b: str, differences: Sequence[Difference]) -> str:
    """Two plans side by side as plain text."""
    if not differences:
        return "The plans are the same.\n"
    out, console = _console()
    rows = [(one.field, one.a or DASH, one.b or DASH, one.consequence) for one in differences]
    console.print(_table(f"{a} and {b}", ("field", a, b, "what follows"), rows))
    return _trimmed(out.getvalue())
