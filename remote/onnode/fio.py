"""Direct reads by fio, where the node has it."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Tuple

from .watch import Watch

GRACE_S = 10.0
# It counts whole milliseconds: over a shorter time its rate is off by more than a hundredth.
LEAST_MS = 50


class FioFailed(Exception):
    """It did not measure, with its reason."""


def find() -> Optional[str]:
    """Where fio is; None where it is not installed."""
    return shutil.which("fio")


def read_rates(
    program: str,
    descriptors: List[int],
    chunk: int,
    threads: int,
    repeats: int,
    slice_s: float,
    watch: Watch,
) -> Tuple[List[float], str]:
    """Bytes a second of each repeat, read from open files, and fio's version.

    Raises:
        FioFailed: It ended with an error, or not in time.
        Failure: ``timeout`` or ``cut-off``, from the watch.
    """
    job = _job(["/proc/%d/fd/%d" % (os.getpid(), number) for number in descriptors], chunk, threads, slice_s)
    rates = []
    version = ""
    for _ in range(repeats):
        watch.check()
        answer = _run(program, job, slice_s)
        try:
            job_answer = answer["jobs"][0]
            rates.append(float(job_answer["read"]["bw_bytes"]))
            error, runtime_ms = int(job_answer["error"]), float(job_answer["read"]["runtime"])
            version = str(answer["fio version"])
        except (KeyError, IndexError, TypeError, ValueError):
            raise FioFailed("fio's answer names no rate.") from None
        if error:
            raise FioFailed("fio could not read: %s." % os.strerror(error))
        if not 0 < rates[-1] < math.inf:
            raise FioFailed("fio read nothing.")
        if runtime_ms < LEAST_MS:
            raise FioFailed("fio was through after %g ms, too soon for its clock." % runtime_ms)
    return rates, version


def _job(paths: List[str], chunk: int, threads: int, slice_s: float) -> str:
    lines = [
        "[global]",
        "ioengine=psync",
        "direct=1",
        "rw=read",
        "bs=%d" % chunk,
        "filesize=%d" % chunk,
        "allow_file_create=0",
        "thread=1",
        "group_reporting=1",
        "runtime=%g" % slice_s,
        # One file after the other, each read whole, as a chunk is.
        "file_service_type=sequential",
    ]
    for number in range(min(threads, len(paths))):
        lines += ["[thread-%d]" % number, "filename=" + ":".join(paths[number::threads])]
    return "\n".join(lines) + "\n"


def _run(program: str, job: str, slice_s: float) -> Dict[str, Any]:
    command = [program, "--output-format=json", "-"]
    try:
        done = subprocess.run(
            command, input=job.encode(), capture_output=True, timeout=slice_s + GRACE_S, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        raise FioFailed("fio did not end within %g s." % (slice_s + GRACE_S)) from None
    except OSError as error:
        raise FioFailed("fio cannot be run: %s." % error.strerror) from None
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        last = (done.stderr.decode("utf-8", "replace").strip() or text.strip()).splitlines()[-1:]
        raise FioFailed("fio ended with status %d: %s" % (done.returncode, last[0] if last else "no word"))
    try:
        # Warnings may stand before the object.
        value: Dict[str, Any] = json.loads(text[text.index("{") :])
    except ValueError:
        raise FioFailed("fio's answer is not JSON.") from None
    return value
