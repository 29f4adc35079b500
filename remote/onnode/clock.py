"""Tells the time, once for each line that is asked: a round trip then is the way and nothing else."""

from __future__ import annotations

import sys
import time
from typing import List


def main(arguments: List[str]) -> int:
    """Answer every line of standard input with this machine's time, until the input ends."""
    # Reading by iteration would wait for more than the one line.
    for _ in iter(sys.stdin.readline, ""):
        sys.stdout.write("kvtui:%.9f\n" % time.time())
        sys.stdout.flush()
    return 0
