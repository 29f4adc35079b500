"""What listens on this machine."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from . import ports

MOST = 500


def listeners() -> Optional[List[Dict[str, Any]]]:
    """Every TCP port that something listens on; None where the kernel does not show them."""
    sockets = ports.listening()
    if sockets is None:
        return None
    holders = ports.holders(sockets)
    nobody = ports.Holder(None, None)
    listed = sorted(set(sockets.values()))[:MOST]
    return [{"port": port, **holders.get(port, nobody)._asdict()} for port in listed]
