"""Work done by several threads at once, and how long it took."""

from __future__ import annotations

import threading
import time
from typing import Callable, Iterable, List, Tuple, TypeVar

from .failure import Failure
from .watch import Watch

# For the operation that was under way when the time was over.
GRACE_S = 2.0
T = TypeVar("T")


def timed(
    threads: int, items: Iterable[T], work: Callable[[int, T], None], slice_s: float, watch: Watch
) -> Tuple[int, float]:
    """Do ``work(thread, item)`` for items in their order: how many were done, in how many seconds.

    After ``slice_s`` nothing more is begun, so that a slow machine does less and not longer. Work that waits
    for the system must not hold Python's lock.

    Raises:
        Failure: ``timeout`` or ``cut-off``, from the watch.
        OSError: What the work raised.
    """
    waiting = iter(items)
    lock, go, over = threading.Lock(), threading.Event(), threading.Event()
    done: List[int] = []
    errors: List[BaseException] = []

    def run(thread: int) -> None:
        go.wait()
        try:
            while not over.is_set():
                watch.check()
                with lock:
                    if time.perf_counter() - started >= slice_s and done:
                        return
                    try:
                        item = next(waiting)
                    except StopIteration:
                        return
                work(thread, item)
                done.append(1)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that asked
            errors.append(error)
            over.set()

    crew = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(threads)]
    for thread in crew:
        thread.start()
    started = time.perf_counter()
    go.set()
    for thread in crew:
        thread.join(max(0.0, watch.left_s()) + GRACE_S)
    elapsed = time.perf_counter() - started
    if errors:
        raise errors[0]
    if any(thread.is_alive() for thread in crew):
        over.set()
        raise Failure("timeout", "The measurement hung: a single operation did not end in time.")
    return len(done), elapsed
