"""What is done to the lab, from outside, while a campaign runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

from bench.confounds.scene import POLL_S, Scene
from bench.confounds.stage import CLOCK_FILE, KV_DIR
from bench.store_client import keys, store_client, used_memory_bytes
from remote.lab import info, members

COLD = "/cold/single"
MEMORY_PATH = "/dev/shm/kvtui-confounds"  # noqa: S108 - it is meant to lie in memory
_MIB = 1024**2
_SILENCE_S = 2.0
_FOREIGN_BYTES = 256 * 1024
_HOG_FILE_BYTES = 512 * _MIB
_CGROUPS = Path("/sys/fs/cgroup")
_SLOW_BYTES_S = 8 * _MIB
_LEAVE_TRIES = 100


def warm_page_cache(scene: Scene) -> None:
    """Read the disk tier's files as soon as they were made cold."""
    scene.wait("page_cache", ".cached", "before")
    folder = scene.paths.home("gpu-a") / KV_DIR / f"kvtui-{scene.run}"
    while not scene.measured():
        for file in folder.iterdir():
            with suppress(OSError):
                file.read_bytes()
        time.sleep(POLL_S)


def _limit_store(scene: Scene, more_bytes: int, policy: str) -> None:
    scene.wait_step(COLD)
    with store_client(scene.lab) as client:
        limit = used_memory_bytes(client) + more_bytes
        client.config_set({"maxmemory": str(limit), "maxmemory-policy": policy})


def fill_store(scene: Scene) -> None:
    """Leave the store room for about half of the documents, and have it refuse the rest."""
    _limit_store(scene, 28 * _MIB, "noeviction")


def thrash_store(scene: Scene) -> None:
    """Leave the store room for about half of the documents, and have it give up others for the rest."""
    _limit_store(scene, 28 * _MIB, "allkeys-lru")


def restart_store(scene: Scene) -> None:
    """Kill the store in the middle of the cached pass, and start it again a little later."""
    scene.wait_answers("single.cached", 2)
    pid = scene.lab.store.pid
    argv = Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0")
    os.kill(pid, signal.SIGKILL)
    time.sleep(_SILENCE_S)
    started = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, members.MARKER: scene.lab.lab_id},
    )
    # It outlives the campaign, and ends with the lab.
    Thread(target=started.wait, daemon=True).start()
    info.write(with_store_pid(scene.lab, started.pid), scene.paths.info)


def zero_values(scene: Scene) -> None:
    """Overwrite what the cold pass stored with zeros of the same length."""
    scene.wait_step(COLD)
    done: set[bytes] = set()
    with store_client(scene.lab) as client:
        while not scene.measured():
            for key in keys(client, f"@run%{scene.run}.valkey-single.1") - done:
                client.set(key, bytes(client.strlen(key)))
                done.add(key)
            time.sleep(POLL_S)


def use_store(scene: Scene) -> None:
    """Read and write values of one's own in the store, all through both passes."""
    scene.wait_step(COLD)
    value = os.urandom(_FOREIGN_BYTES)
    number = 0
    with store_client(scene.lab) as client:
        while not scene.measured():
            number += 1
            client.set(f"somebody:{number % 50}", value)
            client.get(f"somebody:{number % 50}")
            time.sleep(POLL_S)


def pause_writes(scene: Scene) -> None:
    """Have the store hold back all writes from early in the cold pass until the cached one has begun."""
    with store_client(scene.lab) as client:
        scene.undo.callback(_unpause, scene)
        scene.wait_answers("single.cold", 1)
        client.custom_command(["CLIENT", "PAUSE", "60000", "WRITE"])
        scene.wait_answers("single.cached", 2)
        client.custom_command(["CLIENT", "UNPAUSE"])


def _unpause(scene: Scene) -> None:
    with store_client(scene.lab) as client:
        client.custom_command(["CLIENT", "UNPAUSE"])


def hog_processor(scene: Scene) -> None:
    """Keep every processor busy with other work, all through both passes."""
    scene.wait_step(COLD)
    for _ in range(os.cpu_count() or 1):
        _beside(scene, [sys.executable, "-c", "while True: pass"])
    _until_measured(scene)


def hog_disk(scene: Scene) -> None:
    """Read another file from the disk all through both passes, past the page cache."""
    file = scene.paths.root / "hog.bin"
    scene.undo.callback(file.unlink, missing_ok=True)
    with file.open("wb") as out:
        for _ in range(_HOG_FILE_BYTES // _MIB):
            out.write(os.urandom(_MIB))
        os.fsync(out.fileno())
    scene.wait_step(COLD)
    reading = f"while :; do dd if='{file}' of=/dev/null bs=4M iflag=direct 2>/dev/null; done"
    _beside(scene, ["sh", "-c", reading])
    _until_measured(scene)


def throttle_disk(scene: Scene) -> None:
    """Let the engine read only 8 MiB a second from the disk, from the end of the cold pass on.

    Raises:
        OSError: This user may not, or the kernel cannot.
    """
    group = _slow_group(scene.paths.root)
    scene.undo.callback(_leave_group, group)
    scene.wait_step("/settle")
    for entry in members.find(scene.lab.lab_id):
        if "/engine-cpu/" in _command_line(entry.pid) or entry.command.startswith("VLLM::"):
            (group / "cgroup.procs").write_text(str(entry.pid), encoding="utf-8")


def _slow_group(path: Path) -> Path:
    """A control group whose processes read slowly from the disk that a path is on."""
    number = os.stat(path).st_dev
    block = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    whole = block.resolve().parent if (block / "partition").exists() else block
    device = (whole / "dev").read_text(encoding="utf-8").strip()
    first = _CGROUPS / "blkio"
    group = (first if first.is_dir() else _CGROUPS) / "kvtui-confounds"
    group.mkdir(exist_ok=True)
    if first.is_dir():
        (group / "blkio.throttle.read_bps_device").write_text(f"{device} {_SLOW_BYTES_S}", encoding="utf-8")
    else:
        (group / "io.max").write_text(f"{device} rbps={_SLOW_BYTES_S}", encoding="utf-8")
    return group


def _leave_group(group: Path) -> None:
    for pid in (group / "cgroup.procs").read_text(encoding="utf-8").split():
        with suppress(OSError):
            (group.parent / "cgroup.procs").write_text(pid, encoding="utf-8")
    for _ in range(_LEAVE_TRIES):
        with suppress(OSError):  # a process that has just ended is in it for a moment
            group.rmdir()
            return
        time.sleep(POLL_S)


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    return ""


def leave_memory(scene: Scene) -> None:
    """Remove the disk tier's folder from the memory that it lies in, once the run is over."""
    scene.undo.callback(shutil.rmtree, MEMORY_PATH, ignore_errors=True)


def step_clock(scene: Scene) -> None:
    """Have the clock of the node step once the cold pass has begun."""
    scene.wait_answers("single.cold", 2)
    (scene.paths.home("gpu-a") / CLOCK_FILE).touch()


def _beside(scene: Scene, argv: list[str]) -> None:
    """Run a program, with all that it starts, until the run is over."""
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    scene.undo.callback(_end, process)


def _end(process: subprocess.Popen[Any]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _until_measured(scene: Scene) -> None:
    """Wait for the end of the cached pass, and undo then what would only slow down what follows."""
    while not scene.measured():
        time.sleep(POLL_S)
    scene.undo.close()


def with_store_pid(lab: info.LabInfo, pid: int) -> info.LabInfo:
    """The lab with another process as its store."""
    return replace(lab, store=replace(lab.store, pid=pid))
