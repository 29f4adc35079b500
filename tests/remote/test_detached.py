"""Detached processes: start, find again, stop."""

from __future__ import annotations

from remote.link import Link
from remote.process import Process


async def test_a_process_is_started_once_and_stopped(link: Link) -> None:
    process = Process(link, "run/one")
    first = await process.start(["/bin/sh", "-c", "echo hi; exec sleep 60"], env={}, marker="m", lease_s=60)
    second = await process.start(["/bin/sh", "-c", "echo hi; exec sleep 60"], env={}, marker="m", lease_s=60)
    assert (first.already, second.already) == (False, True)
    assert first.pid == second.pid
    assert (await process.status()).state == "running"
    assert await process.stop(grace_s=5) is False
    status = await process.status()
    assert (status.state, status.exit_code, status.reason) == ("ended", -15, "stopped")
    assert (await process.tail(0)).data == b"hi\n"
