"""The ``kvtui`` command: results on standard output, everything else on standard error."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvtui import cli_app, cli_corpus, cli_history, cli_lab, cli_nodes, cli_plan
from kvtui.cli_errors import ending, finish
from kvtui.errors import ExitCode, KvtuiError
from kvtui.paths import places

if TYPE_CHECKING:
    from kvtui.plan import Plan
    from kvtui.record import RunRecord
    from kvtui.results import Result


app = typer.Typer(
    invoke_without_command=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Where should the KV cache of my model live: host DRAM, local NVMe, or a Valkey over the network?",
)
app.add_typer(cli_lab.app, name="lab", help="The lab: the real engines, small, on this machine.")
app.add_typer(cli_nodes.app, name="nodes", help="The nodes that kvtui knows, and what they are made of.")
app.command()(cli_history.history)
app.command()(cli_history.results)
app.add_typer(cli_corpus.app, name="corpus", help="The documents that a run sends.")
app.add_typer(cli_plan.app, name="plan", help="Plans: write, show, check, change, compare.")
app.command(name="check")(cli_plan.check)

RunArgument = Annotated[str | None, typer.Argument(help="Id of the run, or the start of it.")]
HeadlessOption = Annotated[bool, typer.Option("--headless", help="Without the app, on a terminal too.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kvtui {importlib.metadata.version('kvtui')}")
        raise typer.Exit


@app.callback()
def _options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    readonly: Annotated[
        bool, typer.Option("--readonly", help="The app starts, stops and deletes nothing.")
    ] = False,
    theme: Annotated[
        str | None, typer.Option("--theme", metavar="NAME", help="The app's theme; ? lists them.")
    ] = None,
    bindings: Annotated[
        bool, typer.Option("--bindings", help="List the app's commands, their ids and keys.")
    ] = False,
) -> None:
    """Without a command: the app."""
    if ctx.invoked_subcommand is not None:
        return
    if theme == "?":
        cli_app.list_themes()
    elif bindings:
        cli_app.list_bindings()
    else:
        cli_app.open_bare(readonly=readonly, theme=theme)


def _print(result: Result, as_json: bool) -> None:
    from kvtui.tables import result_text

    text = json.dumps(result.to_json(), ensure_ascii=False) if as_json else result_text(result).rstrip("\n")
    typer.echo(text)


def _print_what_there_is(record: RunRecord, as_json: bool) -> str:
    """Print the result so far; the run's state, or nothing where its record cannot be read."""
    from kvtui.record_result import record_result

    try:
        result = record_result(record)
    except KvtuiError:
        return ""
    _print(result, as_json)
    return result.state


def _carry_on(record: RunRecord, as_json: bool, passphrases: Mapping[str, str] | None = None) -> None:
    from kvtui import launch as launching
    from kvtui.asking import Given, terminal_asker
    from kvtui.progress import Progress

    progress = Progress()
    progress.say(f"Run {record.run}, recorded in {record.path}")
    asker = terminal_asker() if passphrases is None else Given(passphrases)
    try:
        _print(asyncio.run(launching.carry_on(record, places(), progress, asker)), as_json)
    except BaseException as error:
        state = _print_what_there_is(record, as_json)
        raise ending(error, places().log, record.run, state) from error


@app.command()
def launch(
    plan: Annotated[
        Path | None, typer.Argument(help="The plan, a TOML file; the lab's own without one.")
    ] = None,
    lab: Annotated[bool, typer.Option("--lab", help="Run it on the lab, scaled to fit.")] = False,
    headless: HeadlessOption = False,
    as_json: JsonOption = False,
) -> None:
    """Carry out a plan: in the app where there is a terminal, else the tables are printed."""
    from kvtui import launch as launching
    from kvtui.asking import terminal_asker
    from kvtui.cli_preflight import before_launch
    from kvtui.plan import load_plan
    from kvtui.progress import Progress
    from kvtui.recordings import DEFAULT_PLAN

    async def read() -> Plan:
        return load_plan(plan or DEFAULT_PLAN)

    chosen = finish(read())
    if not (headless or as_json) and cli_app.has_terminal():
        cli_app.open_launch(chosen, on_lab=lab)
        return
    given = finish(before_launch(chosen, places(), Progress(), terminal_asker(), on_lab=lab))
    _carry_on(finish(launching.new_run(chosen, places(), Progress(), on_lab=lab)), as_json, given)


@app.command()
def attach(
    run: RunArgument = None,
    headless: HeadlessOption = False,
    as_json: JsonOption = False,
    secrets_stdin: Annotated[bool, typer.Option("--secrets-stdin", hidden=True)] = False,
) -> None:
    """Go on with a run that was cut off; the latest unfinished one without an id."""
    from kvtui.record import find
    from kvtui.run_secrets import Secrets, read_secrets

    async def look() -> tuple[RunRecord, Secrets | None]:
        secrets = read_secrets(sys.stdin) if secrets_stdin else None
        if secrets is not None:
            secrets.enter_environment()
        return find(places().runs, run, unfinished=True), secrets

    record, secrets = finish(look())
    if not (headless or as_json or secrets_stdin) and cli_app.has_terminal():
        finish(cli_app.follow(record))
        cli_app.open_live(record)
        return
    _carry_on(record, as_json, None if secrets is None else secrets.passphrases)


@app.command()
def replay(as_json: JsonOption = False) -> None:
    """Tell a recorded run of the lab; for machines that cannot run an engine."""
    from kvtui.plan import load_plan
    from kvtui.progress import Progress, RunProgress
    from kvtui.recordings import DEFAULT_PLAN, RECORDED
    from kvtui.recordings import replay as tell

    progress = RunProgress(load_plan(DEFAULT_PLAN), Progress())
    _print(tell(RECORDED, progress.see), as_json)


@app.command()
def stop(run: RunArgument = None) -> None:
    """Stop a run, and remove what it left on its nodes."""
    from kvtui import launch as launching
    from kvtui.asking import terminal_asker
    from kvtui.progress import Progress
    from kvtui.record import find

    async def end() -> str:
        record = find(places().runs, run, unfinished=True)
        await launching.stop(record, places(), Progress(), terminal_asker())
        return record.run

    typer.echo(f"Run {finish(end())} is stopped; what it measured is kept.", err=True)


@app.command()
def size(
    config: Annotated[Path, typer.Argument(help="A model's config.json.")],
    dtype: Annotated[str, typer.Option(help="vLLM's --dtype.")] = "auto",
    kv_cache_dtype: Annotated[str, typer.Option(help="vLLM's --kv-cache-dtype.")] = "auto",
    tp: Annotated[int, typer.Option(help="vLLM's --tensor-parallel-size.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Print how many bytes of KV a token of a model takes, as LMCache stores it."""
    from kvtui.kvsize import KvShape, kv_shape, load_config
    from kvtui.kvsize.words import size_json, size_text

    async def measure() -> KvShape:
        return kv_shape(load_config(config), str(config), dtype, kv_cache_dtype, tp)

    shape = finish(measure())
    typer.echo(json.dumps(size_json(shape)) if as_json else size_text(shape))


@app.command()
def locate() -> None:
    """Print where kvtui keeps its files."""
    for name, path in places().rows():
        typer.echo(f"{name:8}{path}")


def main() -> None:
    """Entry point of the ``kvtui`` command."""
    logging.getLogger("asyncssh").setLevel(logging.WARNING)
    try:
        app(standalone_mode=True)
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(ExitCode.RUN_FAILED) from None
