"""``kvtui plan``: write, show, check, change and compare plans; ``kvtui check``: read the nodes too."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kvtui.cli_errors import ending
from kvtui.errors import ExitCode, PlanError
from kvtui.paths import places
from kvtui.units import DASH

if TYPE_CHECKING:
    from kvtui.check import Assessment, Known
    from kvtui.plan import Plan

T = TypeVar("T")
app = typer.Typer(no_args_is_help=True)

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


class Source(StrEnum):
    """Which of kvtui's own plans a new one begins as."""

    SEED = "seed"
    LAB = "lab"


def _told(work: Callable[[], T]) -> T:
    """Do it; a failure becomes one sentence and its exit code."""
    try:
        return work()
    except BaseException as error:
        raise ending(error, places().log) from error


def _load(path: Path) -> Plan:
    from kvtui.plan import load_plan

    return load_plan(path)


def _print_json(data: object) -> None:
    typer.echo(json.dumps(data, ensure_ascii=False))


@app.command()
def new(
    file: Annotated[
        Path | None, typer.Argument(help="Where to write it; standard output without one.")
    ] = None,
    source: Annotated[
        Source, typer.Option("--from", help="Begin as this plan of kvtui's own.")
    ] = Source.SEED,
    lab: Annotated[bool, typer.Option("--lab", help="A plan for the lab, the same as --from lab.")] = False,
) -> None:
    """Write a new plan with a word on every field; your nodes of hosts.toml are in it."""

    def work() -> None:
        from kvtui.plan_new import new_plan
        from kvtui.plan_toml import to_toml
        from kvtui.recordings import PLANS
        from kvtui.services.hosts import HostsStore
        from kvtui.services.plans import write_whole

        base = _load(PLANS / f"{Source.LAB if lab else source}.toml")
        entries = () if base.lab else HostsStore(places().config).load()
        text = to_toml(new_plan(base, entries), commented=True)
        if file is None:
            typer.echo(text, nl=False)
            return
        if file.exists():
            raise PlanError(f"There is a file {file} already.", "Choose another name, or remove it.")
        write_whole(file, text)
        typer.echo(f"Wrote {file}. Look at it: kvtui plan show {file}", err=True)

    _told(work)


@app.command()
def show(
    plan: PlanFile,
    as_json: Json = False,
    commands: Annotated[
        bool, typer.Option("--commands", help="Print the commands and files that start its engines.")
    ] = False,
) -> None:
    """Print what is known of a plan without asking its nodes."""

    def work() -> None:
        from kvtui.check import assess, shape_of
        from kvtui.plan_commands import script
        from kvtui.services.known import known_here

        chosen = _load(plan)
        known = known_here(chosen, places())
        if commands:
            sized = shape_of(chosen, known)
            typer.echo(script(chosen, sized[0] if sized else None), nl=False)
            return
        _print_assessment(chosen, assess(chosen, known), as_json)

    _told(work)


def _print_assessment(plan: Plan, found: Assessment, as_json: bool) -> None:
    from kvtui.assessment_text import assessment_text
    from kvtui.eta import in_words

    if as_json:
        _print_json(found.to_json())
        return
    duration_s = found.forecast.duration_s
    duration = "" if duration_s is None else in_words(duration_s)
    typer.echo(assessment_text(plan, found, duration), nl=False)


@app.command()
def validate(plan: PlanFile) -> None:
    """Tell whether a file is a plan, with every field that is wrong."""
    found = _told(lambda: _load(plan))
    typer.echo(f"{plan} is a plan: {found.name}.", err=True)


@app.command(name="set")
def set_(
    plan: PlanFile,
    fields: Annotated[list[str], typer.Argument(metavar="FIELD=VALUE…", help="Such as corpus.documents=10.")],
) -> None:
    """Change fields of a plan, all of them or none; tiers go by name: tiers.dram.capacity_gib=20."""

    def work() -> None:
        from kvtui.check.compare import fields_of
        from kvtui.loglines import clean
        from kvtui.plan_edit import set_fields
        from kvtui.plan_text import changed_text
        from kvtui.services.plans import write_whole

        before = _load(plan)
        after = set_fields(before, fields, str(plan))
        text = plan.read_text(encoding="utf-8-sig")
        write_whole(plan, changed_text(text, before, after))
        old, new = fields_of(before), fields_of(after)
        changed = [field for field in dict.fromkeys((*old, *new)) if old.get(field) != new.get(field)]
        for field in changed:
            typer.echo(clean(f"{field}: {old.get(field, DASH)} → {new.get(field, DASH)}"), err=True)
        if not changed:
            typer.echo(f"{plan} says so already.", err=True)

    _told(work)


@app.command()
def compare(
    a: PlanFile,
    b: Annotated[Path, typer.Argument(metavar="OTHER", help="The other plan.")],
    as_json: Json = False,
) -> None:
    """Print every field in which two plans differ, and what follows from it."""

    def work() -> None:
        from dataclasses import asdict

        from kvtui.assessment_text import differences_text
        from kvtui.check import compare as compared
        from kvtui.services.known import known_here

        first, second = _load(a), _load(b)
        found = compared(first, second, known_here(first, places()))
        if as_json:
            _print_json({"v": 1, "differences": [asdict(one) for one in found]})
        else:
            typer.echo(differences_text(a.stem, b.stem, found), nl=False)

    _told(work)


def check(
    plan: PlanFile,
    as_json: Json = False,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no node.")] = False,
) -> None:
    """Check a plan against its nodes before it is launched; exit code 5 when something blocks."""
    import asyncio

    chosen = _told(lambda: _load(plan))
    known, failures = _told(lambda: asyncio.run(_known(chosen, offline)))
    found = _told(lambda: _print_check(chosen, known, failures, as_json))
    if failures.keys() - {"store"}:
        raise typer.Exit(ExitCode.UNREACHABLE)
    if failures or found.blocked:
        raise typer.Exit(ExitCode.PREFLIGHT)


async def _known(plan: Plan, offline: bool) -> tuple[Known, dict[str, str]]:
    from kvtui.asking import terminal_asker
    from kvtui.services.known import known_here, read_known

    if offline:
        return known_here(plan, places()), {}
    reading = await read_known(plan, places(), terminal_asker())
    return reading.known, {node: str(error) for node, error in reading.failures.items()}


def _print_check(plan: Plan, known: Known, failures: dict[str, str], as_json: bool) -> Assessment:
    from kvtui.assessment_text import finding_lines
    from kvtui.check import assess
    from kvtui.loglines import clean

    found = assess(plan, known)
    if as_json:
        _print_json({**found.to_json(), "unreachable": failures})
        return found
    for line in finding_lines(found.findings):
        typer.echo(line)
    for node, failure in failures.items():
        typer.echo(clean(f"{node}: not read. {failure}"), err=True)
    return found
