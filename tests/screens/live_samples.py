"""What nodes and the store tell of themselves, made up from what was moved."""

from __future__ import annotations

from typing import Any

from kvtui.journal import Event

_GIB = 1024**3


def ceilings(wall_s: float) -> list[dict[str, Any]]:
    """What was measured before the first pass."""
    figures = (("disk-read", 1.6e9), ("disk-write", 1.1e9), ("network", 4.4e9), ("memory", 21e9))
    return [
        {
            "node": node,
            "what": what,
            "how": "direct, 4 threads",
            "bytes_s": bytes_s,
            "low_bytes_s": bytes_s * 0.97,
            "high_bytes_s": bytes_s * 1.02,
            "repeats": 3,
            "chunk_bytes": 14_680_064,
            "threads": 4,
            "tool": "kvtui",
            "target": "/mnt/nvme/kv",
            "measured_wall_s": wall_s - 40,
        }
        for node in ("gpu-a", "gpu-b")
        for what, bytes_s in figures
    ]


def node_sample(node: str, wall_s: float, moved: dict[str, float], busy: float) -> Event:
    """A node at a second."""
    here = node == "gpu-a"
    return {
        "v": 1,
        "kind": "node_sample",
        "src": f"{node}:watch",
        "wall_s": wall_s,
        "cpu_percent": 12.0 if here else 3.0,
        "cores": 64,
        "ram_total_bytes": 512 * _GIB,
        "ram_available_bytes": 460 * _GIB,
        "swap_used_bytes": 0,
        "nics": {
            "eth0": {
                "rx_bytes": int(moved["rx"]) if here else 0,
                "tx_bytes": int(moved["used"]) if here else 0,
            }
        },
        "disks": {
            "nvme0n1": {
                "read_bytes": int(moved["disk"]) if here else 0,
                "write_bytes": int(moved["written"]) if here else 0,
            }
        },
        "engine": {
            "rss_bytes": 9 * _GIB,
            "read_bytes": int(moved["disk"]),
            "write_bytes": 0,
            "rchar": 0,
            "cpu_s": 1.0,
        },
        "gpus": [
            {
                "index": 0,
                "utilisation_percent": busy if here else 0.0,
                "memory_used_bytes": 113 * _GIB,
                "memory_total_bytes": 141 * _GIB,
                "clock_mhz": 1980,
                "throttle": None,
            }
        ],
    }


def store_sample(wall_s: float, moved: dict[str, float]) -> Event:
    """The store at a second."""
    return {
        "v": 1,
        "kind": "store_sample",
        "src": "kvtui",
        "wall_s": wall_s,
        "used_memory_bytes": int(moved["used"]),
        "maxmemory_bytes": 48 * _GIB,
        "keys": int(moved["keys"]),
        "evicted_keys": 0,
        "net_in_bytes": int(moved["used"]),
        "net_out_bytes": int(moved["rx"]),
        "get_calls": 0,
        "set_calls": 0,
    }
