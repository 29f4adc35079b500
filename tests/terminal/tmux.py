"""A terminal of a fixed size that a test types into and reads."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE_S = 60.0
_POLL_S = 0.2


class Tmux:
    """One tmux server with one window, on a socket of its own.

    Args:
        directory: Where its socket lies, and where the command starts.
        command: The command in the window; the window stays when it has ended.
        environment: What is set beside the test's own environment.
        columns: Width.
        rows: Height.
    """

    def __init__(
        self,
        directory: Path,
        command: Sequence[str],
        environment: Mapping[str, str],
        columns: int,
        rows: int,
    ) -> None:
        self._socket = str(directory / "tmux.sock")
        setting = [f"{name}={value}" for name, value in environment.items()]
        line = shlex.join(["env", *setting, *command])
        ended = 'echo "ended with $?"; exec sleep 600'
        self._tmux(
            "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(directory), f"{line}; {ended}"
        )

    def _tmux(self, *arguments: str) -> str:
        environment = {**os.environ, "TERM": "xterm-256color"}
        environment.pop("TMUX", None)
        done = subprocess.run(
            ["tmux", "-S", self._socket, "-f", "/dev/null", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        return done.stdout

    def screen(self) -> str:
        """What the terminal shows."""
        return self._tmux("capture-pane", "-p")

    def record(self, path: Path) -> None:
        """Write every byte that the program sends to the terminal from now on into a file."""
        self._tmux("pipe-pane", "-o", f"exec cat >> {shlex.quote(str(path))}")

    def title(self) -> str:
        """The title that the program gave the terminal."""
        return self._tmux("display-message", "-p", "#{pane_title}").strip()

    def alternate(self) -> bool:
        """Whether a full-screen program has the terminal."""
        return self._tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names."""
        self._tmux("send-keys", *keys)

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait(self, fits: Callable[[str], bool], patience_s: float = PATIENCE_S) -> str:
        """Wait until the screen fits; the screen.

        Raises:
            AssertionError: It never did.
        """
        deadline_s = time.monotonic() + patience_s
        while True:
            shown = self.screen()
            if fits(shown):
                return shown
            assert time.monotonic() < deadline_s, f"the terminal shows:\n{shown}"
            time.sleep(_POLL_S)

    def wait_for(self, text: str, patience_s: float = PATIENCE_S) -> str:
        """Wait until the screen holds a text; the screen."""
        return self.wait(lambda shown: text in shown, patience_s)

    def close(self) -> None:
        """End the server and what runs in it."""
        self._tmux("kill-server")
