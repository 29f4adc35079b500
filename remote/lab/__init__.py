"""A lab on this machine: real engines on CPU, a real Valkey, three nodes over real SSH."""

from __future__ import annotations

from remote.lab.control import LabStatus, down, status, up
from remote.lab.info import LabInfo, LabParts, StoreAddress
from remote.lab.paths import NODE_NAMES, LabPaths

__all__ = [
    "NODE_NAMES",
    "LabInfo",
    "LabParts",
    "LabPaths",
    "LabStatus",
    "StoreAddress",
    "down",
    "status",
    "up",
]
