"""Facts of nodes: from one over a real link, and from many at once."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any, cast

import pytest

from kvtui.nodefacts import NodeFacts
from kvtui.services import nodes
from kvtui.services.nodes import Wanted, read_all, read_facts
from remote.clock import ClockReading, read_clock
from remote.errors import CommandFailed, NodeUnreachable, RemoteError
from remote.hosts import HostSpec
from remote.link import Link
from tests.kvtui.models import QWEN_7B


async def test_the_facts_of_a_node(link: Link, node_home: Path) -> None:
    (node_home / "m").mkdir()
    (node_home / "m" / "config.json").write_text(json.dumps(QWEN_7B))
    facts = await read_facts(link, Wanted("/no/such/python", ("m",)))
    assert facts.name == "gpu-a"
    assert facts.cores == len(os.sched_getaffinity(0))
    assert facts.clock_skew_s is not None
    assert facts.rtt_ms is not None
    # The same clock, so what is left is the half of the way that nobody knows.
    assert abs(facts.clock_skew_s) <= facts.rtt_ms / 1000
    assert facts.mount_of(str(node_home)) is not None
    assert facts.models is not None
    assert [(m.path, m.kv_bytes_per_token) for m in facts.models] == [(str(node_home / "m"), 57_344)]
    assert facts.engine_problem == "/no/such/python cannot be run: No such file or directory"


async def test_without_a_question_about_the_engine_nothing_of_it_is_known(link: Link) -> None:
    facts = await read_facts(link)
    assert (facts.models, facts.versions, facts.engine_problem) == (None, {}, "")


async def test_a_node_whose_clock_is_wrong_is_told_of(link: Link) -> None:
    facts = await read_facts(link, clock=lambda: time.time() - 3600)
    assert facts.clock_skew_s is not None
    assert 3599 < facts.clock_skew_s < 3601


async def test_a_node_that_does_not_tell_the_time(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(link: Link, program: str, *arguments: str) -> list[str]:
        return ["echo", "good morning"]

    monkeypatch.setattr("remote.clock.program_argv", silent)
    with pytest.raises(CommandFailed, match=r"^gpu-a did not tell its time"):
        await read_clock(link)
    facts = await read_facts(link)
    assert (facts.clock_skew_s, facts.rtt_ms) == (None, None)


class FakeLink:
    """A node that answers once every node of the test has been asked."""

    def __init__(self, name: str, gate: asyncio.Barrier, error: RemoteError | None = None) -> None:
        self.name = name
        self._gate = gate
        self._error = error

    async def agent(self, command: str, **args: Any) -> dict[str, Any]:
        await self._gate.wait()
        if self._error:
            raise self._error
        return {"ok": True, "hostname": self.name}


async def test_twenty_nodes_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def clock(link: Link, wall: object) -> ClockReading:
        return ClockReading(0.0, 0.001)

    monkeypatch.setattr(nodes, "read_clock", clock)
    gate = asyncio.Barrier(20)
    down = NodeUnreachable("n7 is down.")
    links = {f"n{i}": cast(Link, FakeLink(f"n{i}", gate, down if i == 7 else None)) for i in range(20)}
    told: dict[str, NodeFacts | RemoteError] = {}
    async with asyncio.timeout(20):
        found = await read_all(links, told=told.__setitem__)
    assert list(found) == list(links)
    assert found["n7"] is down
    others = [facts for facts in found.values() if isinstance(facts, NodeFacts)]
    assert [facts.hostname for facts in others] == [name for name in links if name != "n7"]
    assert told == found


async def test_a_node_that_refuses_is_an_answer_too(link: Link) -> None:
    closed = Link(HostSpec("gone", "127.0.0.1", port=1, known_hosts="/dev/null", config=None))
    found = await read_all({"gpu-a": link, "gone": closed})
    assert isinstance(found["gpu-a"], NodeFacts)
    assert isinstance(found["gone"], NodeUnreachable)
