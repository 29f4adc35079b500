"""Opens terminals for tests, and closes them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.terminal.tmux import Tmux

Open = Callable[..., Tmux]


@pytest.fixture
def terminal(tmp_path: Path, own_places: Path) -> Iterator[Open]:
    """Opens kvtui with these arguments in a terminal of this size, with places of its own."""
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux on this machine")
    opened: list[Tmux] = []

    def start(*arguments: str, columns: int = 80, rows: int = 24, **environment: str) -> Tmux:
        directory = tmp_path / f"terminal-{len(opened)}"
        directory.mkdir()
        places = {f"XDG_{name}_HOME": str(own_places / name.lower()) for name in ("CONFIG", "DATA", "STATE")}
        command = [sys.executable, "-m", "kvtui", *arguments]
        environment = {"COLORTERM": "truecolor", "PYTHONPATH": str(Path.cwd()), **places, **environment}
        tmux = Tmux(directory, command, environment, columns, rows)
        opened.append(tmux)
        return tmux

    yield start
    for tmux in opened:
        tmux.close()
