"""Writes the snapshots anew, after a change that is meant: ``python -m tests.corpus.write_snapshots``."""

from __future__ import annotations

import json

from corpus import characters_for, document
from tests.corpus.test_generate import SNAPSHOTS

START_CHARACTERS = 2_048


def main() -> None:
    """Write the beginning of each document, and the digests of the whole."""
    hashes = {}
    for index in (0, 1, 4):
        item = document(0, index, characters_for(10_000))
        hashes[item.document_id] = item.sha256
        start = item.text[:START_CHARACTERS]
        (SNAPSHOTS / f"{item.document_id}.txt").write_bytes(start.encode())
    (SNAPSHOTS / "hashes.json").write_text(json.dumps(hashes, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
