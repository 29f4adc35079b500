"""The lab by hand: ``python -m remote.lab up|down|status --root DIR --engine-env DIR``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from remote.errors import RemoteError
from remote.lab import LabPaths, control, info


def main() -> int:
    """Run one command; progress to stderr, result to stdout."""
    parser = argparse.ArgumentParser(prog="python -m remote.lab")
    parser.add_argument("command", choices=["up", "down", "status"])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--engine-env", type=Path, required=True)
    options = parser.parse_args()
    paths = LabPaths(options.root.absolute(), options.engine_env.absolute())
    try:
        return asyncio.run(_run(options.command, paths))
    except RemoteError as error:
        _say(str(error))
        return 1


async def _run(command: str, paths: LabPaths) -> int:
    if command == "up":
        print(info.to_json(await control.up(paths, _say)))  # noqa: T201
    elif command == "down":
        print("The lab is down." if await control.down(paths, _say) else "There was no lab.")  # noqa: T201
    else:
        state = await control.status(paths)
        print(f"state: {state.state}")  # noqa: T201
        for pid, name in state.processes:
            print(f"process {pid}: {name}")  # noqa: T201
        for problem in state.problems:
            print(problem)  # noqa: T201
        return 0 if state.state == "up" and not state.problems else 1
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    raise SystemExit(main())
