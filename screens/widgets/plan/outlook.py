"""What will happen when the plan runs: fit, keys, forecast, as text that fits its panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.app import App

from kvtui.check import Agreement, Assessment, Forecast, KvFigures, Sharing, SharingTable, TierFit
from kvtui.check.words import gib, ms, number
from kvtui.fit import GIB
from kvtui.loglines import clean
from kvtui.plan import Plan, TierKind, Topology
from kvtui.units import DASH
from screens.signs import sign_text
from screens.widgets.facts import facts_grid
from screens.widgets.plan.bar import FitBar

_AGREEMENT = {Agreement.EQUAL: "=", Agreement.DIFFERS: "≠", Agreement.UNKNOWN: "?"}
_VERDICT = {Sharing.YES: "✓", Sharing.NO: "✗", Sharing.UNKNOWN: "!"}
_NAME = 11


def kv_lines(app: App[object], plan: Plan, kv: KvFigures | None) -> RenderableType:
    """How large a token, a chunk, a document and all of them are."""
    if kv is None:
        lines = [("KV", "its size is unknown: type the bytes a token")]
    else:
        chunks = f"{kv.document_chunks:,} × {gib(kv.chunk_bytes)}"
        lines = [
            ("KV a token", f"{kv.token_bytes:,} B"),
            ("a document", f"{chunks} = {gib(kv.document_bytes)}"),
            (f"all {plan.corpus.documents:,}", gib(kv.working_set_bytes)),
        ]
    return facts_grid(app, lines)


def fit_lines(app: App[object], found: Assessment, *, reasons: bool) -> RenderableType:
    """A bar a tier, and what a cached pass will find there.

    Args:
        app: For its colours.
        found: What was found.
        reasons: Whether to say why documents are lost, or only what keeps them all.
    """
    return Group(*(part for fit in found.fits for part in _tier(app, fit, reasons)))


def _tier(app: App[object], fit: TierFit, reasons: bool) -> Iterator[RenderableType]:
    colours = app.theme_variables
    if fit.kind is TierKind.NONE:
        yield Text.assemble(
            (f"{clean(fit.tier)[:_NAME]:<{_NAME}}", "bold"), ("no cache: the baseline", colours["muted"])
        )
        return
    head = Table.grid(padding=(0, 1, 0, 0), expand=True)
    head.add_column(width=_NAME - 1, no_wrap=True, overflow="ellipsis")
    head.add_column(ratio=1)
    head.add_column(no_wrap=True, justify="right")
    name = Text(clean(fit.tier), "bold")
    if fit.needed_bytes is None or fit.capacity_bytes is None:
        head.add_row(name, Text(DASH, colours["muted"]), Text(f"{DASH} / {_gib(fit.capacity_bytes)}"))
    else:
        bar = FitBar(
            fit.needed_bytes, fit.capacity_bytes, colours["primary"], colours["error"], colours["line"]
        )
        head.add_row(name, bar, Text(f"{_gib(fit.needed_bytes)} / {_gib(fit.capacity_bytes)}"))
    yield head
    yield _found_again(app, fit, reasons)


def _gib(size_bytes: int | None) -> str:
    return DASH if size_bytes is None else number(float(f"{size_bytes / GIB:.3g}"))


def _found_again(app: App[object], fit: TierFit, reasons: bool) -> RenderableType:
    """Reuse by topology, with its reason where documents are lost that could be found."""
    colours = app.theme_variables
    wanted = [
        reuse
        for topology, reuse in fit.reuse.items()
        if topology is Topology.SINGLE or fit.kind is TierKind.VALKEY
    ]
    whole = bool(wanted) and all(reuse.certain for reuse in wanted)
    sign = "✓" if whole else "?" if not fit.reuse else "·" if not wanted else "✗"
    text = Text()
    for topology, reuse in fit.reuse.items():
        here = topology is Topology.SINGLE or fit.kind is TierKind.VALKEY
        style = "" if here else colours["muted"]
        text.append(f"{' · ' if text else ''}{reuse} {topology}", style)
    if not whole:
        least = f"{number(fit.smallest_gib)} GiB keep all" if fit.smallest_gib else fit.reason
        text.append(f"{' · ' if text else ''}{clean(fit.reason if reasons else least)}", colours["muted"])
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    grid.add_row(sign_text(app, sign), text)
    return grid


def sharing_lines(app: App[object], sharing: SharingTable | None) -> RenderableType:
    """The ingredients of the keys, node by node, and the verdict."""
    if sharing is None:
        return Text("Nothing goes from node to node in this plan.", app.theme_variables["muted"])
    colours = app.theme_variables
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(no_wrap=True, style=colours["muted"])
    nodes = tuple(sharing.rows[0].values)
    for _ in nodes:
        grid.add_column(overflow="fold")
    grid.add_row("", "", *(Text(clean(node), "bold") for node in nodes))
    styles = {
        Agreement.EQUAL: colours["success"],
        Agreement.DIFFERS: colours["error"],
        Agreement.UNKNOWN: colours["muted"],
    }
    for row in sharing.rows:
        sign = Text(_AGREEMENT[row.agreement], styles[row.agreement])
        values = [Text(clean(row.values[node] or DASH)) for node in nodes]
        grid.add_row(sign, Text(clean(row.name)), *values)
    return Group(verdict_line(app, sharing), Text(), grid)


def verdict_line(app: App[object], sharing: SharingTable) -> RenderableType:
    """Whether the nodes share, in a sentence."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=1)
    grid.add_column(overflow="fold")
    grid.add_row(sign_text(app, _VERDICT[sharing.verdict]), Text(clean(sharing.text)))
    return grid


def forecast_lines(app: App[object], found: Assessment, in_words: Callable[[float], str]) -> RenderableType:
    """Floors and speedups by tier, the run's duration and cost, and the recommendation."""
    colours = app.theme_variables
    forecast = found.forecast
    parts: list[RenderableType] = [Text(clean(found.recommendation.sentence), "bold")]
    if any(one.floor_ms is not None or one.speedup is not None for one in forecast.tiers):
        parts += [Text(), _tiers(app, forecast)]
    elif forecast.tiers:
        text = "The floor of a cached document is unknown: measure the ceilings (1, then c)."
        parts += [Text(), Text(text, colours["muted"])]
    parts += [Text(), facts_grid(app, _takes(forecast, in_words))]
    return Group(*parts)


def _takes(forecast: Forecast, in_words: Callable[[float], str]) -> Iterator[tuple[str, str]]:
    takes = DASH if forecast.duration_s is None else in_words(forecast.duration_s)
    yield "takes", f"{takes} · {forecast.duration_basis}"
    yield "costs", f"{DASH if forecast.cost is None else f'{forecast.cost:,.2f}'} · {forecast.cost_basis}"


def _tiers(app: App[object], forecast: Forecast) -> Table:
    colours = app.theme_variables
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    headings = ("CACHED", "FLOOR", "PREFILL", "SPEEDUP", "PAYS AFTER")
    table.add_row(*(Text(heading, colours["muted"]) for heading in headings))
    for one in forecast.tiers:
        fleet = " fleet" if one.topology is Topology.FLEET else ""
        floor_style = colours["error"] if one.slower else ""
        table.add_row(
            Text(clean(one.tier) + fleet),
            Text(DASH if one.floor_ms is None else ms(one.floor_ms), floor_style),
            Text(DASH if one.prefill_ms is None else ms(one.prefill_ms)),
            Text(DASH if one.speedup is None else f"{one.speedup:.2f}×"),
            Text(DASH if one.break_even_hits is None else f"{one.break_even_hits:.2g} hits"),
        )
    return table
