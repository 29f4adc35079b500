"""Memory of this machine."""

from __future__ import annotations

import re
from typing import Dict, Optional

from .kernel_text import read


def memory() -> Dict[str, int]:
    """``/proc/meminfo`` in bytes; empty where there is none."""
    found = re.findall(r"^(\w+):\s+(\d+) kB$", read("/proc/meminfo") or "", re.MULTILINE)
    return {name: int(kib) * 1024 for name, kib in found}


def swap_used(memory: Dict[str, int]) -> Optional[int]:
    """Bytes that lie in swap."""
    if "SwapTotal" not in memory or "SwapFree" not in memory:
        return None
    return memory["SwapTotal"] - memory["SwapFree"]


def huge_pages() -> Optional[str]:
    """Whether memory comes in huge pages unasked: ``always``, ``madvise`` or ``never``."""
    found = re.search(r"\[(\w+)\]", read("/sys/kernel/mm/transparent_hugepage/enabled") or "")
    return found.group(1) if found else None
