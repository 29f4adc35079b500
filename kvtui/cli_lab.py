"""``kvtui lab``: the lab on this machine."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from kvtui.cli_errors import finish
from kvtui.errors import ExitCode
from kvtui.paths import places

app = typer.Typer(no_args_is_help=True)


@app.command()
def up() -> None:
    """Bring the lab up; installs its engine environment the first time."""
    from kvtui import lab
    from kvtui.progress import Progress

    info = finish(lab.up(places(), Progress()))
    for name, host in info.nodes.items():
        typer.echo(f"{name:8}ssh port {host.port} on {host.address}")
    typer.echo(f"{'store':8}Valkey port {info.store.port} on {info.store.host}")


@app.command()
def down() -> None:
    """Take the lab down, with everything in it."""
    from kvtui import lab
    from kvtui.progress import Progress

    was = finish(lab.down(places(), Progress()))
    typer.echo("The lab is down." if was else "There was no lab.", err=True)


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """Tell whether the lab is up, and what runs in it."""
    from kvtui import lab
    from remote.lab import control

    found = finish(control.status(lab.lab_paths(places())))
    if as_json:
        data = {"state": found.state, "processes": found.processes, "problems": found.problems}
        typer.echo(json.dumps(data))
    else:
        typer.echo(f"The lab is {found.state}.")
        for pid, name in found.processes:
            typer.echo(f"{pid:8} {name}")
        for problem in found.problems:
            typer.echo(problem)
    if found.problems:
        raise typer.Exit(ExitCode.RUN_FAILED)


@app.command()
def install() -> None:
    """Install the lab's engine environment, unless it is there."""
    from kvtui import lab
    from kvtui.progress import Progress

    finish(lab.ensure_engine(places(), Progress()))
