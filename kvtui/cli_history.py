"""``kvtui history`` and ``kvtui results``: the runs on this machine, and the tables of any of them."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from kvtui.cli_errors import finish
from kvtui.loglines import clean
from kvtui.paths import places

if TYPE_CHECKING:
    from kvtui.services.run_list import RunSummary

_HEADINGS = ("RUN", "WHEN", "PLAN", "STATE", "HEADLINE")
_DASH = "–"

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _cells(summary: RunSummary) -> tuple[str, ...]:
    when = _DASH
    if summary.when_wall_s is not None:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.when_wall_s))
    cells = (summary.run, when, summary.plan or _DASH, summary.state, summary.headline or _DASH)
    return tuple(clean(cell) for cell in cells)


def history_text(summaries: Sequence[RunSummary]) -> str:
    """The runs as a table; one line where there is none."""
    if not summaries:
        return "No run yet. Start one with: kvtui launch"
    rows = [_HEADINGS, *map(_cells, summaries)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def history(as_json: JsonOption = False) -> None:
    """List the runs on this machine, the latest first."""
    from kvtui.services.run_list import list_runs

    async def look() -> tuple[RunSummary, ...]:
        return list_runs(places().runs)

    summaries = finish(look())
    if as_json:
        typer.echo(json.dumps([asdict(summary) for summary in summaries], ensure_ascii=False))
    else:
        typer.echo(history_text(summaries))


def results(
    run: Annotated[str | None, typer.Argument(help="Id of the run, or the start of it.")] = None,
    as_json: JsonOption = False,
    against: Annotated[
        str | None, typer.Option("--against", help="Another run: was this one reproduced by it?")
    ] = None,
    hit_rate: Annotated[
        list[float] | None,
        typer.Option("--hit-rate", min=0, max=100, help="Percent of hits to tell an hour's saving for."),
    ] = None,
    within: Annotated[float, typer.Option("--within", min=0.1, max=100, help="Margin in percent.")] = 10.0,
) -> None:
    """Print the tables of a run; of the latest one without an id."""
    from kvtui.record import find
    from kvtui.record_result import record_result
    from kvtui.results import Result
    from kvtui.services.run_list import CUT_OFF
    from kvtui.stats.economics import HIT_RATES
    from kvtui.tables import result_text

    if against is not None:
        _against(run, against, within / 100, as_json)
        return

    rates = tuple(rate / 100 for rate in hit_rate) if hit_rate else HIT_RATES

    async def look() -> Result:
        record = find(places().runs, run, unfinished=False)
        found = record_result(record, rates)
        if found.state == "running" and record.follower_pid() is None:
            return replace(found, state=CUT_OFF, reason=f"Go on with: kvtui attach {record.run}")
        return found

    result = finish(look())
    text = json.dumps(result.to_json(), ensure_ascii=False) if as_json else result_text(result).rstrip("\n")
    typer.echo(text)


def _against(run: str | None, other: str, within: float, as_json: bool) -> None:
    """Hold a run against another."""
    from kvtui.errors import RecordError
    from kvtui.journal import read_events
    from kvtui.record import find
    from kvtui.reproduction import Reproduction, reproduction, reproduction_text
    from kvtui.results import result_of
    from kvtui.run_result import RunResult
    from kvtui.samples import samples_of

    def read(wanted: str | None) -> RunResult:
        record = find(places().runs, wanted, unfinished=False)
        events, plan = read_events(record.events), record.plan()
        return RunResult(result_of(record.run, plan, events), plan, samples_of(events))

    async def look() -> Reproduction:
        both = read(run), read(other)
        for one in both:
            if not one.samples:
                raise RecordError(
                    f"Run {one.result.run} has no measured request, so nothing can be held against it.",
                    "Choose another: kvtui history",
                )
        found = reproduction(*both, within)
        if not found.figures:
            raise RecordError(f"Runs {found.first} and {found.second} have no tier in common to compare.")
        return found

    found = finish(look())
    typer.echo(json.dumps(found.to_json(), ensure_ascii=False) if as_json else reproduction_text(found))
