"""Entry point of the ``kvtui`` command: answers Ctrl-C from the first import on."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    try:
        from kvtui.cli import main as command_line

        command_line()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
