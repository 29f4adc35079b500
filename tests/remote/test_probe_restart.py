"""The probe as a program: killed, started again, started twice."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.remote.node_runner import LIMIT_S, LocalNode, until
from tests.remote.probe_job import Pass
from tests.remote.scripted_engine import CHUNKED_HEAD, GOOD, Call, chunk, chunked, scripted_engine, sse


def hang(call: Call) -> None:
    """A first token, and then nothing for as long as the test runs."""
    call.send(CHUNKED_HEAD, chunked(sse(chunk("A"))))
    call.connection.recv(1)


def run(local: LocalNode, job: str) -> int:
    return subprocess.run(local.argv("probe", job), env=local.env, timeout=LIMIT_S, check=False).returncode


def test_a_killed_probe_goes_on_where_it_was(local: LocalNode, tmp_path: Path) -> None:
    with scripted_engine(GOOD, GOOD, hang, GOOD) as engine:
        work = Pass(tmp_path, engine.port, requests=4)
        job = work.write()
        probe = subprocess.Popen(local.argv("probe", job), env=local.env)
        until(lambda: len(work.events("first_token")) == 3, "the third first token")
        probe.kill()
        probe.wait()
        before = Path(work.job["events"]).read_bytes()
        assert run(local, job) == 0
        assert Path(work.job["events"]).read_bytes().startswith(before)
    assert [e["request_id"] for e in work.events("done")] == ["r1", "r2", "r3", "r4"]
    assert [(e["request_id"], e["attempt"]) for e in work.events("sent")] == [
        ("r1", 1),
        ("r2", 1),
        ("r3", 1),
        ("r3", 2),
        ("r4", 1),
    ]
    assert [e["attempt"] for e in work.events("done")] == [1, 1, 2, 1]
    assert len(work.events("pass_begin")) == 1
    [end] = work.events("pass_end")
    assert (end["ok"], end["failed"]) == (4, 0)


def test_a_finished_pass_is_left_alone(local: LocalNode, tmp_path: Path) -> None:
    with scripted_engine(GOOD) as engine:
        work = Pass(tmp_path, engine.port, requests=2)
        job = work.write()
        assert run(local, job) == 0
        before = Path(work.job["events"]).read_bytes()
        assert run(local, job) == 0
        assert Path(work.job["events"]).read_bytes() == before
        assert len(engine.calls) == 2


def test_failed_requests_are_not_sent_again(tmp_path: Path) -> None:
    with scripted_engine(GOOD) as engine:
        work = Pass(tmp_path, engine.port, requests=2)
        failed = {"v": 1, "kind": "failed", "request_id": "r1", "error": "timeout"}
        Path(work.job["events"]).write_text(json.dumps(failed) + "\n")
        work.run()
    assert [e["request_id"] for e in work.events("sent")] == ["r2"]
    assert (work.events()[-1]["ok"], work.events()[-1]["failed"]) == (1, 1)


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    with scripted_engine(GOOD) as engine:
        work = Pass(tmp_path, engine.port)
        torn = b'{"v": 1, "kind": "sent", "request_'
        Path(work.job["events"]).write_bytes(torn)
        work.run()
    assert Path(work.job["events"]).read_bytes().startswith(torn + b"\n")
    assert [e["kind"] for e in work.events()] == ["pass_begin", "sent", "first_token", "done", "pass_end"]


def test_a_second_probe_on_the_same_pass_refuses(local: LocalNode, tmp_path: Path) -> None:
    with scripted_engine(hang) as engine:
        work = Pass(tmp_path, engine.port)
        job = work.write()
        first = subprocess.Popen(local.argv("probe", job), env=local.env)
        until(lambda: bool(work.events("first_token")), "the first token")
        second = subprocess.run(
            local.argv("probe", job), env=local.env, timeout=LIMIT_S, capture_output=True, check=False
        )
        first.kill()
        first.wait()
    assert (second.returncode, second.stderr) == (2, b"Another probe works on this pass.\n")
    assert len(engine.calls) == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"port": None}, "int"),
        ({"requests": "/no/such/file"}, "/no/such/file"),
        ({"events": "/no/such/dir/events"}, "/no/such/dir/events"),
    ],
)
def test_a_bad_job_is_refused_in_one_line(
    local: LocalNode, tmp_path: Path, change: dict[str, object], named: str
) -> None:
    work = Pass(tmp_path, 1)
    work.job.update(change)
    if "requests" in change:
        job = tmp_path / "job.json"
        job.write_text(json.dumps(work.job))
    else:
        job = Path(work.write())
    done = subprocess.run(
        local.argv("probe", str(job)), env=local.env, timeout=LIMIT_S, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(b"The job cannot be read: ")
    assert named in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_a_request_without_its_token_count_stops_the_pass_before_it_starts(
    local: LocalNode, tmp_path: Path
) -> None:
    work = Pass(tmp_path, 1, requests=2)
    del work.requests[1]["expect_prompt_tokens"]
    assert run(local, work.write()) == 2
    assert work.events() == []
