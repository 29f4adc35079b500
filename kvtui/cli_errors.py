"""A failure at the command line: one sentence on standard error, the traceback in the log, an exit code."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import typer

from kvtui.errors import ExitCode, KvtuiError
from kvtui.loglines import clean
from kvtui.paths import places

T = TypeVar("T")

_LINE_WIDTH = 200


def write_log(error: BaseException, log: Path) -> str:
    """Write the traceback to the log; where it stands, in words, or nothing when it cannot be written."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')}\n")
            file.write("".join(traceback.format_exception(error)))
    except OSError:
        return ""
    return f" (Details: {log})"


def exit_code(error: BaseException) -> ExitCode:
    """The exit code of a failure."""
    from remote import errors as remote_errors

    if isinstance(error, KvtuiError):
        return error.exit_code
    if isinstance(error, remote_errors.NodeUnreachable):
        return ExitCode.UNREACHABLE
    if isinstance(error, remote_errors.CommandTimeout):
        return ExitCode.TIMEOUT
    if isinstance(error, remote_errors.NodeBusy | remote_errors.NoPython | remote_errors.StoreUnavailable):
        return ExitCode.PREFLIGHT
    return ExitCode.RUN_FAILED


def _interrupted(run: str, state: str) -> str:
    if not run:
        return "Interrupted."
    if state == "running":
        return f"Run {run} was cut off before all of it was ended. End it with: kvtui stop {run}"
    return f"Run {run} was stopped; what it measured is kept."


def ending(error: BaseException, log: Path, run: str = "", state: str = "") -> typer.Exit:
    """Say what went wrong, and how to go on; returns what to raise.

    Args:
        error: The failure.
        log: Where its traceback goes.
        run: Id of the run, when there is one.
        state: Its state.
    """
    from remote.errors import CommandTimeout, NodeUnreachable, RemoteError

    if isinstance(error, typer.Exit):
        return error
    if isinstance(error, KeyboardInterrupt | asyncio.CancelledError):
        typer.echo(_interrupted(run, state), err=True)
        return typer.Exit(ExitCode.INTERRUPTED)
    details = write_log(error, log)
    known = isinstance(error, KvtuiError | RemoteError)
    text = str(error) if known else f"kvtui met a fault of its own: {type(error).__name__}: {error}."
    text = " ".join(clean(text).split())
    if state == "running" and isinstance(error, NodeUnreachable | CommandTimeout):
        text += f" A pass under way goes on there; go on with: kvtui attach {run}"
    for line in getattr(error, "log_lines", ()):
        typer.echo(f"  {clean(line)[:_LINE_WIDTH]}", err=True)
    typer.echo(f"{text}{details}", err=True)
    return typer.Exit(exit_code(error))


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run a command's coroutine; a failure becomes one sentence and its exit code."""
    try:
        return asyncio.run(work)
    except BaseException as error:
        raise ending(error, places().log) from error
