"""One value of a chunk's size, written into the store from this very node, read back and removed."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from typing import Any, Dict

from .ceiling_net import fields, longest_value
from .failure import Failure
from .resp import Connection, Refused

PREFIX = "kvtui-check-"
# Should this process be killed, its key ends by itself.
LIFE_S = 60


def there_and_back(args: Dict[str, Any]) -> Dict[str, Any]:
    """Time for ``size_bytes`` to the Valkey at ``host:port`` and back; ``password``, ``timeout_s``.

    Raises:
        Failure: ``store`` when it does not answer, refuses, or gives something else back, ``bulk-limit`` when
            it takes no value of that size, ``no-space`` when the value would throw others out.
    """
    size = int(args["size_bytes"])
    connection = Connection(
        args["host"], int(args["port"]), args.get("password") or "", float(args["timeout_s"])
    )
    with contextlib.closing(connection):
        try:
            _check_room(connection, size)
            return {"seconds": _carry(connection, size)}
        except Refused as error:
            where = "%s:%d" % (args["host"], int(args["port"]))
            raise Failure("store", "Valkey at %s refuses: %s." % (where, error)) from None


def _carry(connection: Connection, size: int) -> float:
    key = PREFIX + secrets.token_hex(8)
    sent, back = memoryview(os.urandom(size)), memoryview(bytearray(size))
    started = time.monotonic()
    try:
        connection.call("SET", key, sent, "EX", str(LIFE_S))
        connection.get_into(key, back)
        elapsed = time.monotonic() - started
    finally:
        # What cannot be removed now ends by itself.
        with contextlib.suppress(Failure, Refused):
            connection.call("UNLINK", key)
    if back != sent:
        raise Failure("store", "Valkey gave back another value than was put in.")
    return elapsed


def _check_room(connection: Connection, size: int) -> None:
    longest = longest_value(connection)
    if longest is not None and size > longest:
        text = "A chunk has %d bytes, and Valkey takes values up to %d (proto-max-bulk-len)."
        raise Failure("bulk-limit", text % (size, longest))
    memory = fields(connection.call("INFO", "memory"))
    used, most = memory.get("used_memory"), memory.get("maxmemory")
    if most and used is not None and used + size > most:
        raise Failure("no-space", "Valkey is full: a chunk of %d bytes has no room in it." % size)
