"""Files on the node: read from a byte offset, count, remove."""

from __future__ import annotations

import base64
import os
from typing import Any, Dict

from . import places


def tail(args: Dict[str, Any]) -> Dict[str, Any]:
    """At most ``max_bytes`` of ``path`` from ``offset`` on; a file that is not there yet is empty."""
    offset, limit = int(args["offset"]), int(args["max_bytes"])
    try:
        with open(places.absolute(args["path"]), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(offset)
            data = file.read(limit)
    except FileNotFoundError:
        size, data = 0, b""
    return {
        "offset": offset,
        "size": size,
        "data_b64": base64.b64encode(data).decode("ascii"),
        "next": offset + len(data),
    }
