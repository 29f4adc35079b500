"""A node as the screens list it, and why one could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kvtui.hosts_file import NodeEntry


@dataclass(frozen=True, slots=True)
class ListedNode:
    """A node that kvtui can ask.

    Attributes:
        entry: What is known of it.
        source: ``hosts`` is a person's own entry; the lab's and the plan's cannot be edited here.
    """

    entry: NodeEntry
    source: Literal["hosts", "lab", "plan"] = "hosts"

    @property
    def name(self) -> str:
        """Its name in plans."""
        return self.entry.name


@dataclass(frozen=True, slots=True)
class NodeDown:
    """Why a node could not be read.

    Attributes:
        state: One or two words for the table.
        text: What happened.
        remedy: What to do about it.
    """

    state: str
    text: str
    remedy: str = ""
