"""Network interfaces of this machine."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from .kernel_text import number, read

# The host's ends of containers' cables: there may be hundreds, and none leads to another machine.
CABLES = ("veth", "cali", "lxc")
UP = {"up": True, "down": False, "lowerlayerdown": False}


def nics(root: str = "/sys/class/net") -> Optional[List[Dict[str, Any]]]:
    """Every interface but loopback, with its line rate; None without /sys."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return None
    return [_nic(root, name) for name in names if name != "lo" and not name.startswith(CABLES)]


def _nic(root: str, name: str) -> Dict[str, Any]:
    # The rate is -1, or an error on reading, where the link is down or virtual.
    state = (read(os.path.join(root, name, "operstate")) or "").strip()
    speed = number(os.path.join(root, name, "speed"))
    return {"name": name, "speed_mbit": speed or None, "up": UP.get(state)}
