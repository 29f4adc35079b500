"""How urgent the probe is to the kernel."""

from __future__ import annotations

import contextlib
import os

NICENESS = -10


def raise_priority() -> None:
    """Run before other processes as soon as an answer is there, where this user may ask for that.

    The probe sleeps nearly all the time; what it must not do is wait for a core when the token has come.
    """
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
