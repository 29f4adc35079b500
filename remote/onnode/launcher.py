"""How these modules start themselves again in a process of their own."""

from __future__ import annotations

import os
import sys
from typing import List

# The uploaded directory: Python runs its ``__main__.py``, which leads back to this package.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Isolated and without site-packages: nothing installed on the node can interfere, and the start is quicker.
PYTHON_FLAGS = ("-I", "-S")


def argv_of(command: str, *arguments: str) -> List[str]:
    """The command line that runs ``command`` of this package in a new Python."""
    return [sys.executable, *PYTHON_FLAGS, ROOT, command, *arguments]
