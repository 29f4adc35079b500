"""Whether a GPU works while no engine of the run is there."""

from __future__ import annotations

from typing import Any

from kvtui.findings import Finding, Level
from kvtui.live.numbers import number

# nvidia-smi's figure is that of the last second; an engine that has just ended may still stand in it.
_SAMPLES = 5
_PERCENT = 10.0


class IdleGpus:
    """The GPUs of one node between engines.

    Attributes:
        most_percent: Utilisation of the busiest, in samples that several in a row agree on.
        wall_s: When it was seen first.
    """

    def __init__(self) -> None:
        self.most_percent = 0.0
        self.wall_s: float | None = None
        self._in_a_row: list[float] = []

    def take(self, wall_s: float, engine: Any, gpus: Any) -> None:
        """Note a sample."""
        used = [number(gpu.get("utilisation_percent")) for gpu in gpus or () if isinstance(gpu, dict)]
        busiest = max((one for one in used if one is not None), default=0.0)
        if engine is not None or busiest < _PERCENT:
            self._in_a_row.clear()
            return
        self._in_a_row.append(busiest)
        if len(self._in_a_row) >= _SAMPLES:
            self.most_percent = max(self.most_percent, min(self._in_a_row[-_SAMPLES:]))
            self.wall_s = self.wall_s or wall_s
            del self._in_a_row[: -_SAMPLES + 1]


def gpu_finding(node: str, gpus: IdleGpus) -> Finding | None:
    """That somebody else computes on a GPU of a node."""
    if not gpus.most_percent:
        return None
    text = f"A GPU was {gpus.most_percent:.0f} % busy while no engine of the run was there."
    return Finding(Level.WARNING, "gpu-shared", text, "Ask whose work it is: see nvidia-smi.", node)
