"""A folder that kvtui wrote: which of its files are kvtui's own, by its manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus.document import Document
from corpus.manifest import ManifestRow
from corpus.tokens import ids_sha256

MANIFEST, TABLE = "manifest.json", "manifest.csv"
# Ids become file names, and a manifest may come from anywhere.
_ID = re.compile(r"[\w-]+")


def text_name(document_id: str) -> str:
    """Name of the file with a document's text."""
    return f"{document_id}.txt"


def ids_name(document_id: str) -> str:
    """Name of the file with a document's token ids."""
    return f"{document_id}.ids.json"


def _rows(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """The documents that a folder's manifest names; none where there is no manifest of kvtui's."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ()
    if not isinstance(data, dict) or not {"version", "totals", "documents"} <= data.keys():
        return ()
    rows = data["documents"] if isinstance(data["documents"], list) else []
    return tuple(row for row in rows if isinstance(row, dict) and _ID.fullmatch(str(row.get("document_id"))))


def companions(folder: Path) -> frozenset[str]:
    """Names of files in a folder that stand beside kvtui's documents and are none themselves."""
    rows = _rows(folder)
    if not rows:
        return frozenset()
    return frozenset({MANIFEST, TABLE, *(ids_name(str(row["document_id"])) for row in rows)})


def outdated(folder: Path, rows: Iterable[ManifestRow]) -> Iterator[Path]:
    """Files of an earlier corpus in a folder that a new one does not name.

    A file that is no longer as kvtui wrote it is a person's own, and stays.

    Args:
        folder: The folder, with the earlier manifest still in it.
        rows: The new corpus.
    """
    new = {row.document_id: row for row in rows}
    for old in _rows(folder):
        document_id = str(old["document_id"])
        row = new.get(document_id)
        text, ids = folder / text_name(document_id), folder / ids_name(document_id)
        if row is None and _digest_of_text(text) == old.get("sha256"):
            yield text
        if (row is None or row.ids_sha256 is None) and _digest_of_ids(ids) == old.get("ids_sha256"):
            yield ids


def _digest_of_text(path: Path) -> str:
    try:
        text = path.read_bytes().decode()
    except (OSError, ValueError):
        return ""
    return Document("", "", "", "", text).sha256


def _digest_of_ids(path: Path) -> str:
    try:
        return ids_sha256(json.loads(path.read_text(encoding="utf-8"))["token_ids"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return ""
