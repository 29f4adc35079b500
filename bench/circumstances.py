"""What a record says of how it was made."""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any


def commit() -> str:
    """The commit that last changed what was measured."""
    command = ["git", "log", "-1", "--format=%H", "--", "kvtui", "remote", "corpus"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def about(command: str) -> dict[str, Any]:
    """What a record says of a command's circumstances; to be asked before the command works the machine."""
    return {
        "command": command,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "load_before": round(os.getloadavg()[0], 2),
        "cores": os.cpu_count(),
    }
