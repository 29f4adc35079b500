"""Which processes belong to a lab, and how they end."""

from __future__ import annotations

import os
import subprocess

from remote.lab import members
from remote.lab.members import ProcessEntry, belonging
from tests.lab import helpers


def entry(pid: int, parent: int = 1, session: int = 1, *, marked: bool = False) -> ProcessEntry:
    return ProcessEntry(pid, parent, session, start_ticks=0, marked=marked, command="x")


def test_the_marked_belong_and_strangers_do_not() -> None:
    assert belonging([entry(10, marked=True), entry(20)]) == {10}


def test_descendants_belong_even_with_another_environment() -> None:
    assert belonging([entry(30, parent=20), entry(20, parent=10), entry(10, marked=True)]) == {10, 20, 30}


def test_the_session_of_a_member_belongs() -> None:
    # Its parent has died, and its title has overwritten its environment: the session is all that is left.
    assert belonging([entry(10, session=10, marked=True), entry(20, parent=1, session=10)]) == {10, 20}


def test_a_marked_process_in_a_strangers_session_brings_nobody() -> None:
    assert belonging([entry(10, session=5, marked=True), entry(20, session=5), entry(5, session=5)]) == {10}


def test_one_that_ignores_term_is_killed() -> None:
    lab_id = "test-" + os.urandom(4).hex()
    script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    environment = {**os.environ, members.MARKER: lab_id}
    with subprocess.Popen(["sh", "-c", script], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert process.pid in {found.pid for found in members.find(lab_id)}
        assert members.end(lab_id, grace_s=0.2) == []
        assert not helpers.lives(process.pid)


def test_an_id_that_begins_like_another_is_another() -> None:
    lab_id = "test-" + os.urandom(4).hex()
    environment = {**os.environ, members.MARKER: lab_id + "-longer"}
    with subprocess.Popen(["sleep", "300"], env=environment) as process:
        try:
            assert members.find(lab_id) == []
        finally:
            process.kill()


def test_what_is_excluded_stays() -> None:
    lab_id = "test-" + os.urandom(4).hex()
    with subprocess.Popen(["sleep", "300"], env={**os.environ, members.MARKER: lab_id}) as process:
        try:
            assert members.end(lab_id, but={process.pid}) == []
            assert helpers.lives(process.pid)
        finally:
            process.kill()
