"""Ceilings measured over a link, and kept."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kvtui.campaign.ceiling_measuring import Measuring, measure_ceilings
from kvtui.ceiling_reading import Skipped
from kvtui.ceiling_store import CeilingStore
from kvtui.check import assess
from kvtui.paths import places
from kvtui.services.known import known_here
from remote.errors import AgentError
from remote.link import Link
from tests.kvtui.knowing import seed_plan
from tests.kvtui.test_ceilings import BUFFERED, DIRECT
from tests.remote.resp_server import RespServer, resp_server

CHUNK = 64 * 1024
SHORT = Measuring(CHUNK, disk_slice_s=0.05, slice_s=0.05)


async def test_a_disk(link: Link, node_home: Path) -> None:
    measuring = replace(SHORT, directory=str(node_home / "tier"), repeats=2, disk_limit_bytes=4 * CHUNK)
    found = await measure_ceilings(link, measuring, "disk", clock=lambda: 5.0)
    assert {"disk-write"} <= {ceiling.what for ceiling in found} <= {"disk-read", "disk-write"}
    for ceiling in found:
        assert (ceiling.node, ceiling.target, ceiling.chunk_bytes) == ("gpu-a", measuring.directory, CHUNK)
        assert (ceiling.repeats, ceiling.measured_wall_s) == (2, 5.0)
        assert ceiling.low_bytes_s <= ceiling.bytes_s <= ceiling.high_bytes_s


async def test_the_way_to_a_store_with_its_reasons(link: Link) -> None:
    skipped: list[Skipped] = []
    with resp_server(RespServer(password="s3cret")) as store:
        measuring = replace(
            SHORT,
            store_address="127.0.0.1",
            store_port=store.port,
            store_password="s3cret",
            workers=2,
            engine_python="/no/such/python",
            store_limit_bytes=4 * CHUNK,
        )
        found = await measure_ceilings(link, measuring, "network", skipped=skipped.append)
        assert store.values == {}
    assert [(c.what, c.how, c.threads) for c in found] == [
        ("network", "plain socket, 2 workers", 2),
        ("network", "plain socket, 4 workers", 4),
    ]
    assert {c.target for c in found} == {f"127.0.0.1:{store.port}"}
    assert [(way.node, way.how) for way in skipped] == [
        ("gpu-a", "glide, 2 workers"),
        ("gpu-a", "glide, 4 workers"),
    ]


async def test_a_store_that_takes_no_such_value_is_an_error(link: Link) -> None:
    with resp_server(RespServer(longest_value=CHUNK - 1)) as store:
        measuring = replace(SHORT, store_address="127.0.0.1", store_port=store.port)
        with pytest.raises(AgentError, match="proto-max-bulk-len") as caught:
            await measure_ceilings(link, measuring, "network")
    assert caught.value.code == "bulk-limit"


def test_of_each_way_the_latest_is_kept(tmp_path: Path) -> None:
    store = CeilingStore(tmp_path / "state")
    assert store.read() == ()
    store.add([DIRECT, BUFFERED])
    later = replace(DIRECT, bytes_s=1.6e9, measured_wall_s=2000.0)
    other = replace(DIRECT, chunk_bytes=1)
    store.add([later, other])
    assert CeilingStore(tmp_path / "state").read() == (BUFFERED, later, other)
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["ceilings.json"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("\udcff", "is not JSON"),
        ('{"a": 1}', "holds no list"),
        ("[1, null]", "has 2 of 2 entries that are no ceilings"),
        ('[{"node": "a"}]', "has 1 of 1 entries that are no ceilings"),
    ],
)
def test_a_file_that_somebody_spoilt_is_told_of_and_kept(tmp_path: Path, text: str, why: str) -> None:
    raw = text.encode(errors="surrogateescape")
    (tmp_path / "ceilings.json").write_bytes(raw)
    store = CeilingStore(tmp_path)
    fault = store.fault()
    assert fault is not None
    assert (fault.code, store.read()) == ("ceilings-unreadable", ())
    assert fault.text == f"What was measured of the nodes is not all known: {tmp_path}/ceilings.json {why}."
    assert "ceilings.json.bad" in fault.remedy
    store.add([DIRECT])
    assert (store.read(), store.fault()) == ((DIRECT,), None)
    assert (tmp_path / "ceilings.json.bad").read_bytes() == raw


def test_what_of_a_spoilt_file_can_be_read_counts(tmp_path: Path) -> None:
    store = CeilingStore(tmp_path)
    store.add([DIRECT, BUFFERED])
    assert store.fault() is None
    path = tmp_path / "ceilings.json"
    path.write_text(path.read_text().replace('"node": "', '"nod": "', 1))
    assert store.read() == (BUFFERED,)
    fault = store.fault()
    assert fault is not None
    assert "has 1 of 2 entries" in fault.text


def test_a_plan_is_assessed_with_what_could_not_be_read(own_places: Path) -> None:
    assert assess(seed_plan(), known_here(seed_plan(), places())).findings
    state = places().state
    state.mkdir(parents=True)
    (state / "ceilings.json").write_text("{")
    found = assess(seed_plan(), known_here(seed_plan(), places())).findings
    assert "ceilings-unreadable" in [finding.code for finding in found]


IPERF = """
import json, signal, socket, sys
words = sys.argv[1:]
port = int(words[words.index("--port") + 1])
if "--server" in words:
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            server.accept()[0].close()
try:
    socket.create_connection((words[1], port)).close()
except OSError:
    print(json.dumps({{"error": "unable to connect to server: Connection refused"}}))
else:
    print(open({recorded!r}).read())
"""


@pytest.fixture
def iperf3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node with a stand-in for iperf3, whose answer is a recorded one."""
    recorded = Path(__file__).parents[1] / "data" / "tools" / "iperf-3.12.json"
    (tmp_path / "iperf.py").write_text(IPERF.format(recorded=str(recorded)))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "iperf3"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/iperf.py "$@"\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


@pytest.mark.usefixtures("iperf3")
async def test_the_bare_way_to_the_stores_machine(link: Link, node_home: Path) -> None:
    with resp_server(RespServer()) as store:
        measuring = replace(
            SHORT, store_address="127.0.0.1", store_port=store.port, workers=2, store_limit_bytes=4 * CHUNK
        )
        alone = await measure_ceilings(link, measuring, "network")
        found = await measure_ceilings(link, measuring, "network", store=link)
    assert "line" not in {ceiling.what for ceiling in alone}
    [line] = [ceiling for ceiling in found if ceiling.what == "line"]
    assert (line.how, line.tool, line.target) == (
        "bare TCP, 2 streams",
        "iperf 3.12",
        f"127.0.0.1:{store.port}",
    )
    assert line.bytes_s == pytest.approx(10039667865.488043 / 8)
    # The server has ended, and what it was started with is gone.
    assert not [path.name for path in (node_home / ".kvtui").iterdir() if "line" in path.name]
