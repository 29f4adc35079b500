"""Background work of a screen: one piece a group at a time, a failure told of once."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, cast

from textual.dom import DOMNode


def in_background(node: DOMNode, job: Callable[[], Coroutine[Any, Any, None]], group: str) -> None:
    """Do something without holding the screen up; ends what the same group was doing.

    Args:
        node: The screen or app; it hears of a failure.
        job: An async function. A coroutine object would never be awaited if its turn does not come.
        group: What must not be done twice at once.
    """
    node.run_worker(cast(Any, job), group=group, exclusive=True, exit_on_error=False)
