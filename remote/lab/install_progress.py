"""How far an installation is: what a person sees while it runs, and how long it will still take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

STEPS = (
    "Making a virtual environment",
    "Looking for PyTorch's CPU build",
    "Downloading",
    "Unpacking",
    "Removing what a CPU has no use for",
    "Trying the imports",
)

MAKE, LOOK, DOWNLOAD, UNPACK, REMOVE, TRY = range(len(STEPS))

TYPICAL_S = (5.0, 15.0, 90.0, 90.0, 5.0, 30.0)
"""Seconds a step takes on two cores; what is known better from bytes replaces it."""
DOWNLOAD_BYTES = 950_000_000
DISK_BYTES = 3_800_000_000
"""What the pinned versions need at most, before the unwanted goes. Only the estimate depends on it."""
TRUSTED_AFTER_S = 3.0
"""A rate measured over less time says nothing."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an installation is."""

    step: int
    """Counted from 0, an index of `STEPS`."""
    step_elapsed_s: float
    elapsed_s: float
    downloaded_bytes: int
    """Fetched in this step; what pip had in its cache counts, what it found as a local file does not."""
    disk_bytes: int
    """Size of the environment now."""
    detail: str
    """What pip said last."""

    @property
    def title(self) -> str:
        """The step in words."""
        return STEPS[self.step]

    @property
    def eta_s(self) -> float:
        """Seconds until the end, from the rate of this step and typical times of the next ones."""
        return self._rest_of_step_s() + sum(TYPICAL_S[self.step + 1 :])

    def _rest_of_step_s(self) -> float:
        # A step that still runs will take a little longer, whatever was expected of it.
        return max(self._expected_rest_s(), self.step_elapsed_s / 10)

    def _expected_rest_s(self) -> float:
        expected = {
            DOWNLOAD: (self.downloaded_bytes, DOWNLOAD_BYTES),
            UNPACK: (self.disk_bytes, DISK_BYTES),
        }
        if self.step in expected and self.step_elapsed_s >= TRUSTED_AFTER_S:
            done, total = expected[self.step]
            if done > 0:
                return max(total - done, 0) * self.step_elapsed_s / done
        return max(TYPICAL_S[self.step] - self.step_elapsed_s, 0.0)


def size_bytes(directory: Path) -> int:
    """Add up the sizes of all files below a directory, while others change it."""
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue
    return total
