"""The node's GPUs, from one nvidia-smi that goes on printing; a node without one has none."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from typing import Any, Dict, List, Optional

FIELDS = ["index", "utilization.gpu", "memory.used", "memory.total", "clocks.sm"]
# The field's name since driver 535, the one before, and nothing for a driver that knows neither.
THROTTLE_FIELDS = ["clocks_event_reasons.active", "clocks_throttle_reasons.active", ""]
MIB = 1024 * 1024
STALE_S = 5.0
LONGEST_BYTES = 1 << 20
# nvmlClocksEventReason* of NVIDIA's nvml.h that hold a busy GPU back; idle and a user's own clocks do not.
REASONS = [
    (0x04, "power cap"),
    (0x08, "hardware slowdown"),
    (0x20, "thermal, software"),
    (0x40, "thermal, hardware"),
    (0x80, "power brake"),
]


class Gpus:
    """Reads what nvidia-smi prints; one that ends is not started again once it has printed anything."""

    def __init__(self, program: Optional[str] = None) -> None:
        self._program = program or shutil.which("nvidia-smi") or ""
        self._to_try = list(THROTTLE_FIELDS) if self._program else []
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._rest = b""
        self._found: Dict[int, Dict[str, Any]] = {}
        self._said_s = 0.0

    def sample(self) -> List[Dict[str, Any]]:
        """The latest reading of each GPU; empty when there is none that is not old."""
        if self._process is None and self._to_try:
            self._start(self._to_try.pop(0))
        self._read()
        if time.monotonic() - self._said_s > STALE_S:
            return []
        return [self._found[index] for index in sorted(self._found)]

    def close(self) -> None:
        """End nvidia-smi."""
        if self._process is not None:
            self._process.kill()
            self._gone(self._process)

    def _start(self, throttle: str) -> None:
        fields = [*FIELDS, throttle] if throttle else FIELDS
        query = ["--query-gpu=" + ",".join(fields), "--format=csv,noheader,nounits", "-l", "1"]
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                [self._program, *query],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            if self._process.stdout is not None:
                os.set_blocking(self._process.stdout.fileno(), False)

    def _read(self) -> None:
        process = self._process
        if process is None or process.stdout is None:
            return
        while True:
            try:
                data = os.read(process.stdout.fileno(), 65536)
            except BlockingIOError:
                return
            if not data:
                self._gone(process)
                return
            *lines, self._rest = (self._rest + data)[-LONGEST_BYTES:].split(b"\n")
            for line in lines:
                self._take(parse(line.decode("utf-8", "replace")))

    def _take(self, reading: Optional[Dict[str, Any]]) -> None:
        if reading is not None:
            self._found[reading["index"]] = reading
            self._said_s = time.monotonic()
            # Its question is understood: one that ends from now on has ended for another reason.
            self._to_try = []

    def _gone(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._process, self._rest = None, b""


def parse(line: str) -> Optional[Dict[str, Any]]:
    """One line of nvidia-smi; None for a line that is no reading, and for a value that it does not know."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) < len(FIELDS) or not cells[0].isdecimal():
        return None
    used, total = _number(cells[2]), _number(cells[3])
    return {
        "index": int(cells[0]),
        "utilisation_percent": _number(cells[1]),
        "memory_used_bytes": used * MIB if used is not None else None,
        "memory_total_bytes": total * MIB if total is not None else None,
        "clock_mhz": _number(cells[4]),
        "throttle": throttle(cells[5]) if len(cells) > len(FIELDS) else None,
    }


def throttle(mask: str) -> Optional[str]:
    """What holds the GPU back, in words; empty for nothing, None when that is not known."""
    try:
        bits = int(mask, 16)
    except ValueError:
        return None
    return ", ".join(words for bit, words in REASONS if bits & bit)


def _number(cell: str) -> Optional[int]:
    return int(cell) if cell.isdecimal() else None
