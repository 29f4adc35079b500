"""The bare way to another machine by iperf3, where both have it."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import time
from typing import Any, Dict, List, Optional, Tuple

from .watch import Watch, measuring

GRACE_S = 10.0
# For a server that was started just now.
APPEARS_S = 3.0
POLL_S = 0.1
CONNECT_MS = 3000
REFUSED = "unable to connect"


class IperfFailed(Exception):
    """It did not measure, with its reason."""


def find(args: Dict[str, Any]) -> Dict[str, Any]:
    """Where iperf3 is on this node; None where it is not installed."""
    return {"path": shutil.which("iperf3")}


def measure(args: Dict[str, Any]) -> Dict[str, Any]:
    """Receive from the iperf3 server at ``host:port`` in ``streams``, as a hit receives from the store.

    ``repeats``, ``slice_s`` for each repeat, ``timeout_s`` for all.

    Returns:
        ``ways``, and ``skipped`` with the reason where it did not measure.

    Raises:
        Failure: ``busy``, ``timeout`` or ``cut-off``.
    """
    streams = int(args["streams"])
    how = "bare TCP, %d streams" % streams
    ways: List[Dict[str, Any]] = []
    skipped: List[Dict[str, str]] = []
    with measuring(args) as watch:
        try:
            rates, tool = _rates(args, streams, watch)
        except IperfFailed as error:
            skipped.append({"what": "line", "how": how, "why": str(error)})
        else:
            ways.append({"what": "line", "how": how, "threads": streams, "tool": tool, "bytes_s": rates})
    return {"ways": ways, "skipped": skipped}


def _rates(args: Dict[str, Any], streams: int, watch: Watch) -> Tuple[List[float], str]:
    program = find(args)["path"]
    if program is None:
        raise IperfFailed("iperf3 is not installed here.")
    # It takes whole seconds.
    seconds = max(1, math.ceil(float(args["slice_s"])))
    command = [program, "--client", args["host"], "--port", str(int(args["port"])), "--json", "--reverse"]
    command += ["--parallel", str(streams), "--time", str(seconds), "--connect-timeout", str(CONNECT_MS)]
    rates = []
    tool = ""
    for number in range(int(args["repeats"])):
        appears = time.monotonic() + (APPEARS_S if number == 0 else 0.0)
        answer = _answer(command, seconds, appears, watch)
        try:
            rates.append(float(answer["end"]["sum_received"]["bits_per_second"]) / 8)
            tool = str(answer["start"]["version"])
        except (KeyError, TypeError, ValueError):
            raise IperfFailed("iperf3's answer names no rate.") from None
        if not 0 < rates[-1] < math.inf:
            raise IperfFailed("iperf3 received nothing.")
    return rates, tool


def _answer(command: List[str], seconds: int, appears: float, watch: Watch) -> Dict[str, Any]:
    """The answer of one measurement; a server may need a moment to listen."""
    while True:
        watch.check()
        answer = _run(command, seconds)
        # With --json it ends with 0 whatever happened.
        problem: Optional[str] = answer.get("error")
        if not problem:
            return answer
        if REFUSED not in str(problem) or time.monotonic() >= appears:
            raise IperfFailed("iperf3 failed: %s." % str(problem).rstrip("."))
        time.sleep(POLL_S)


def _run(command: List[str], seconds: int) -> Dict[str, Any]:
    limit_s = seconds + GRACE_S
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        raise IperfFailed("iperf3 did not end within %g s." % limit_s) from None
    except OSError as error:
        raise IperfFailed("iperf3 cannot be run: %s." % error.strerror) from None
    text = done.stdout.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    if done.returncode != 0:
        last = (done.stderr.decode("utf-8", "replace").strip() or text.strip()).splitlines()[-1:]
        raise IperfFailed(
            "iperf3 ended with status %d: %s" % (done.returncode, last[0] if last else "no word")
        )
    raise IperfFailed("iperf3's answer is not JSON.")
