"""How long a measurement may go on: until its time is over, or until nobody waits for it any more."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import time
from typing import Any, Dict, Iterator

from . import places
from .failure import Failure

STDOUT = 1
TURN_S = 10.0  # a measurement that was cut off needs no longer to notice


class Watch:
    """The time limit of a command, and its reader."""

    def __init__(self, timeout_s: float, output: int = STDOUT) -> None:
        self._limit_s = timeout_s
        self._ends = time.monotonic() + timeout_s
        self._output = output

    def left_s(self) -> float:
        """Seconds until the time is over."""
        return self._ends - time.monotonic()

    def check(self) -> None:
        """Go on, or not.

        Raises:
            Failure: ``timeout`` when the time is over, ``cut-off`` when the answer's reader is gone.
        """
        if self.left_s() <= 0:
            raise Failure("timeout", "The measurement did not end within %g s." % self._limit_s)
        # One of its own for each call, as threads may not share it; hang-ups are told of unasked.
        output = select.poll()
        output.register(self._output, 0)
        if any(event & (select.POLLERR | select.POLLHUP) for _, event in output.poll(0)):
            raise Failure("cut-off", "Nobody waits for the answer any more.")


@contextlib.contextmanager
def measuring(args: Dict[str, Any]) -> Iterator[Watch]:
    """The watch over a measurement that has the node to itself: two at once would spoil each other.

    Raises:
        Failure: ``busy`` when another one does not end.
    """
    watch = Watch(float(args["timeout_s"]))
    places.make_dir(places.state_root())
    path = os.path.join(places.state_root(), "ceiling.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    turn_ends = time.monotonic() + TURN_S
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > turn_ends:
                    raise Failure("busy", "Another measurement runs on this node.") from None
                watch.check()
                time.sleep(0.05)
        yield watch
    finally:
        os.close(descriptor)
