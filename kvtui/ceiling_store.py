"""Ceilings kept from one start of kvtui to the next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kvtui import ceilings
from kvtui.ceilings import Ceiling

FILE = "ceilings.json"


class CeilingStore:
    """Ceilings in a file of the state directory; of each way the latest."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def read(self) -> tuple[Ceiling, ...]:
        """Everything kept, oldest first; what cannot be read was never measured."""
        try:
            rows = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return ()
        found = []
        for row in rows if isinstance(rows, list) else ():
            with suppress(ValueError):
                found.append(ceilings.from_json(row))
        return tuple(found)

    def add(self, measured: Iterable[Ceiling]) -> None:
        """Keep these too, in the place of older ones of the same way.

        Raises:
            OSError: The file cannot be written.
        """
        kept = {_way(ceiling): ceiling for ceiling in self.read()}
        for ceiling in measured:
            kept.pop(_way(ceiling), None)
            kept[_way(ceiling)] = ceiling
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(f".{os.getpid()}.tmp")
        new.write_text(json.dumps([ceiling.to_json() for ceiling in kept.values()], indent=1))
        new.replace(self._path)


def _way(ceiling: Ceiling) -> tuple[object, ...]:
    return ceiling.node, ceiling.what, ceiling.target, ceiling.how, ceiling.chunk_bytes
