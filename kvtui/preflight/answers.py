"""What was asked of nodes and store, and what they answered so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from kvtui.check import Known
from kvtui.kvsize import KvShape
from kvtui.nodefacts import NodeFacts
from kvtui.plan import Plan
from kvtui.storefacts import StoreFacts


class Question(StrEnum):
    """What a node is asked."""

    FACTS = "facts"
    LOCK = "lock"
    PORTS = "ports"
    MODEL = "model"
    STORE = "store"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Asking:
    """It is being asked."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why there is no answer.

    Attributes:
        text: One sentence.
        remedy: What to do, or empty.
        word: A word or two for a column.
    """

    text: str
    remedy: str = ""
    word: str = "no answer"


@dataclass(frozen=True, slots=True)
class Holder:
    """The run that holds a node.

    Attributes:
        run: Its id; empty while nobody does.
        owner: Who started it.
    """

    run: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """A model's ``config.json`` on a node.

    Attributes:
        digest: Of its content; empty when it is not on the node.
        shape: KV of the model, where it could be reckoned.
        problem: Why it could not be.
        from_hub: It is a hub id, which the engine fetches when it is missing.
    """

    digest: str
    shape: KvShape | None = None
    problem: str = ""
    from_hub: bool = False


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A value that went to the store and came back.

    Attributes:
        time_ms: There and back.
        size_bytes: Its size.
    """

    time_ms: float
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What is checked.

    Attributes:
        plan: The plan as it will run.
        own: The plan as the person wrote it; on the lab the two differ.
        nodes: The nodes that are asked, engines first; none while the lab is down.
        store_node: The node of its store, or empty.
        lab: Whether it runs on the lab, and whether that is up.
        base: What this machine knows without asking: ceilings, prices, an earlier run.
        homes: Home directory by node.
        now_wall_s: The time, for the age of ceilings.
        missing_password: Variable that should hold the store's password, and is not set; or empty.
    """

    plan: Plan
    own: Plan
    nodes: tuple[str, ...]
    store_node: str
    lab: Literal["", "down", "up"]
    base: Known
    homes: Mapping[str, str]
    now_wall_s: float
    missing_password: str = ""

    @property
    def engines(self) -> tuple[str, ...]:
        """The nodes with an engine that are asked."""
        return tuple(node for node in self.plan.engine_nodes if node in self.nodes)


Value = NodeFacts | Holder | tuple[int, ...] | ModelConfig | StoreFacts | RoundTrip
Answer = Asking | Unanswered | Value
Answers = Mapping[tuple[Question, str], Answer]
