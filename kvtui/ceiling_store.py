"""Ceilings kept from one start of kvtui to the next."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kvtui import ceilings
from kvtui.ceilings import Ceiling
from kvtui.findings import Finding, Level

FILE = "ceilings.json"


class CeilingStore:
    """Ceilings in a file of the state directory; of each way the latest."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE

    def read(self) -> tuple[Ceiling, ...]:
        """Everything kept, oldest first; what cannot be read was never measured."""
        return self.look()[0]

    def fault(self) -> Finding | None:
        """What of the file cannot be read; None where all of it can, or there is none."""
        return self.look()[1]

    def look(self) -> tuple[tuple[Ceiling, ...], Finding | None]:
        """Both, from one reading of the file."""
        found, why = self._held()
        return found, self._finding(why) if why else None

    def _finding(self, why: str) -> Finding:
        return Finding(
            Level.WARNING,
            "ceilings-unreadable",
            f"What was measured of the nodes is not all known: {self._path} {why}.",
            f"Mend it, or measure anew: kvtui nodes probe --ceilings; it is kept as {self._aside.name}.",
        )

    def _held(self) -> tuple[tuple[Ceiling, ...], str]:
        """What the file holds, and why not all of it."""
        try:
            rows = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return (), ""
        except OSError as error:
            return (), f"cannot be read: {error.strerror}"
        except (ValueError, RecursionError):
            return (), "is not JSON"
        if not isinstance(rows, list):
            return (), "holds no list"
        found = []
        for row in rows:
            with suppress(ValueError):
                found.append(ceilings.from_json(row))
        bad = len(rows) - len(found)
        return tuple(found), f"has {bad} of {len(rows)} entries that are no ceilings" if bad else ""

    @property
    def _aside(self) -> Path:
        return self._path.with_name(f"{self._path.name}.bad")

    def add(self, measured: Iterable[Ceiling]) -> None:
        """Keep these too, in the place of older ones of the same way; a file that is damaged is put aside.

        Raises:
            OSError: The file cannot be written.
        """
        found, fault = self._held()
        if fault:
            self._path.replace(self._aside)
        kept = {_way(ceiling): ceiling for ceiling in found}
        for ceiling in measured:
            kept.pop(_way(ceiling), None)
            kept[_way(ceiling)] = ceiling
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(f".{os.getpid()}.tmp")
        new.write_text(json.dumps([ceiling.to_json() for ceiling in kept.values()], indent=1))
        new.replace(self._path)


def _way(ceiling: Ceiling) -> tuple[object, ...]:
    return ceiling.node, ceiling.what, ceiling.target, ceiling.how, ceiling.chunk_bytes
