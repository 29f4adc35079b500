"""The best that the way to the store does for values of one chunk, from this very node."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from typing import Any, Dict, Iterator, List, Optional

from . import glide
from .failure import Failure
from .parallel import timed
from .resp import Connection, Refused
from .watch import Watch, measuring

PREFIX = "kvtui-ceiling-"
MOST_KEYS = 1000
# Should this process be killed, its keys end by themselves.
LIFE_S = 600
MOST_OF_FREE = 0.5
MOST_OF_MACHINE = 0.125
BATCH = 100


def measure(args: Dict[str, Any]) -> Dict[str, Any]:
    """Read values of ``chunk_bytes`` from the Valkey at ``host:port`` with several ``workers``.

    ``password``, ``repeats``, ``limit_bytes`` for all values together, ``slice_s`` for each repeat,
    ``timeout_s`` for all; ``python``: an engine's interpreter, whose glide then reads as LMCache does.

    Raises:
        Failure: ``store`` when it does not answer or refuses, ``bulk-limit`` when it takes no value of that
            size, ``no-space``, ``busy``, ``timeout`` or ``cut-off``.
    """
    chunk = int(args["chunk_bytes"])
    with measuring(args) as watch:
        store = _Store(args["host"], int(args["port"]), args.get("password") or "", watch)
        with store.values(chunk, int(args["limit_bytes"])) as keys:
            ways: List[Dict[str, Any]] = []
            skipped: List[Dict[str, str]] = []
            for workers in (int(number) for number in args["workers"]):
                rates = store.read(keys, chunk, workers, int(args["repeats"]), float(args["slice_s"]))
                how = "plain socket, %d workers" % workers
                ways.append({"how": how, "threads": workers, "tool": "kvtui", "bytes_s": rates})
                if args.get("python"):
                    job = {**args, "keys": keys, "workers": workers}
                    how = "glide, %d workers" % workers
                    try:
                        rates, version = glide.run(job, watch)
                    except glide.GlideFailed as error:
                        skipped.append({"what": "network", "how": how, "why": str(error)})
                    else:
                        tool = "valkey-glide-sync %s" % version
                        ways.append({"how": how, "threads": workers, "tool": tool, "bytes_s": rates})
    return {"ways": [{"what": "network", **way} for way in ways], "skipped": skipped}


class _Store:
    def __init__(self, host: str, port: int, password: str, watch: Watch) -> None:
        self._host = host
        self._port = port
        self._password = password
        self._watch = watch

    def _connect(self) -> Connection:
        return Connection(self._host, self._port, self._password, max(1.0, self._watch.left_s()))

    @contextlib.contextmanager
    def values(self, chunk: int, limit_bytes: int) -> Iterator[List[str]]:
        """Values in the store, removed at the end; their keys."""
        connection = self._connect()
        keys: List[str] = []
        try:
            try:
                count = self._room(connection, chunk, limit_bytes)
                tag, content = secrets.token_hex(8), memoryview(os.urandom(chunk))
                for number in range(count):
                    self._watch.check()
                    keys.append("%s%s-%d" % (PREFIX, tag, number))
                    connection.call("SET", keys[-1], content, "EX", str(LIFE_S))
            except Refused as error:
                text = "Valkey at %s:%d refuses: %s." % (self._host, self._port, error)
                raise Failure("store", text) from None
            yield keys
        finally:
            connection.close()
            self._remove(keys)

    def _room(self, connection: Connection, chunk: int, limit_bytes: int) -> int:
        longest = longest_value(connection)
        if longest is not None and chunk > longest:
            raise Failure(
                "bulk-limit",
                "A chunk has %d bytes, and Valkey takes values up to %d (proto-max-bulk-len)."
                % (chunk, longest),
            )
        memory = fields(connection.call("INFO", "memory"))
        used, most = memory.get("used_memory"), memory.get("maxmemory")
        machine = memory.get("total_system_memory")
        room = limit_bytes
        if most and used is not None:
            room = min(room, int((most - used) * MOST_OF_FREE))
        elif machine:
            room = min(room, int(machine * MOST_OF_MACHINE))
        count = min(room // chunk, MOST_KEYS)
        if count < 1:
            raise Failure("no-space", "Valkey has no room for a value of %d bytes to measure with." % chunk)
        return count

    def _remove(self, keys: List[str]) -> None:
        # What cannot be removed now ends by itself.
        with contextlib.suppress(Failure, Refused):
            connection = self._connect()
            with contextlib.closing(connection):
                for start in range(0, len(keys), BATCH):
                    connection.call("UNLINK", *keys[start : start + BATCH])

    def read(self, keys: List[str], chunk: int, workers: int, repeats: int, slice_s: float) -> List[float]:
        """Bytes a second of each repeat."""
        buffers = [memoryview(bytearray(chunk)) for _ in range(workers)]
        with contextlib.ExitStack() as stack:
            crew = [stack.enter_context(contextlib.closing(self._connect())) for _ in range(workers)]

            def work(worker: int, key: str) -> None:
                crew[worker].get_into(key, buffers[worker])

            rates = []
            for _ in range(repeats):
                done, elapsed = timed(workers, itertools.cycle(keys), work, slice_s, self._watch)
                rates.append(done * chunk / elapsed)
        return rates


def longest_value(connection: Connection) -> Optional[int]:
    """The longest value that the server takes; None when it does not say."""
    try:
        pair = connection.call("CONFIG", "GET", "proto-max-bulk-len")
    except Refused:
        return None
    return int(pair[1]) if isinstance(pair, list) and len(pair) == 2 and pair[1].isdigit() else None


def fields(info: bytes) -> Dict[str, int]:
    pairs = (line.split(":", 1) for line in info.decode("utf-8", "replace").splitlines() if ":" in line)
    return {name: int(value) for name, value in pairs if value.strip().isdigit()}
