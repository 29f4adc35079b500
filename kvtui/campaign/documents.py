"""The documents of a run as token ids: made once with the served model's tokenizer, then kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus.chunks import shared_chunks
from corpus.errors import CorpusError
from corpus.generate import generate
from corpus.tokens import TokenDocument, cut
from kvtui.campaign.steps import GATE_DOCUMENTS, WARMUP_DOCUMENTS
from kvtui.errors import RunFailed
from kvtui.plan import Plan

Tokenize = Callable[[str], Awaitable[list[int]]]

# Common tokenizers take three to five characters a token; where that is too few, more text is made.
_CHARACTERS_A_TOKEN = (6, 12, 24)


@dataclass(frozen=True, slots=True)
class RunDocuments:
    """Token documents by purpose; no two of them share a chunk."""

    corpus: tuple[TokenDocument, ...]
    gate: tuple[TokenDocument, ...]
    warmup: tuple[TokenDocument, ...]

    @property
    def sha256(self) -> str:
        """Checksum over all token ids, in order."""
        digest = hashlib.sha256()
        for document in (*self.corpus, *self.gate, *self.warmup):
            digest.update(document.sha256.encode())
        return digest.hexdigest()


def split(documents: Sequence[TokenDocument], wanted: int) -> RunDocuments:
    """The first ``wanted`` documents are the corpus; the rest serve the gate and the warm-up."""
    corpus, rest = documents[:wanted], documents[wanted:]
    return RunDocuments(tuple(corpus), tuple(rest[:GATE_DOCUMENTS]), tuple(rest[GATE_DOCUMENTS:]))


async def make_documents(plan: Plan, tokenize: Tokenize) -> RunDocuments:
    """Make the documents of a run, each of exactly the plan's length.

    Raises:
        RunFailed: The texts stay too short under this tokenizer, or two documents share a chunk.
    """
    count = plan.corpus.documents + GATE_DOCUMENTS + WARMUP_DOCUMENTS
    for characters in _CHARACTERS_A_TOKEN:
        texts = generate(plan.corpus.seed, count, plan.corpus.tokens * characters)
        try:
            cuts = [cut(text, await tokenize(text.text), plan.corpus.tokens) for text in texts]
        except CorpusError as error:
            short = error
            continue
        break
    else:
        raise RunFailed(f"The documents stay too short: {short}.", "Ask for fewer tokens.")
    shared = shared_chunks(cuts, plan.hash.chunk_tokens)
    if shared:
        raise RunFailed(
            f"Documents share {len(shared)} chunks, so a cold pass would not be cold: {shared[0]}.",
            "Choose another corpus seed.",
        )
    return split(cuts, plan.corpus.documents)


def save_documents(documents: RunDocuments, path: Path) -> None:
    """Write the token ids to a file, whole or not at all."""
    rows = [
        {"document_id": document.document_id, "token_ids": document.token_ids, "sha256": document.sha256}
        for document in (*documents.corpus, *documents.gate, *documents.warmup)
    ]
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    os.replace(part, path)


def load_documents(path: Path, wanted: int) -> RunDocuments:
    """Read the token ids of a run back."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    documents = [
        TokenDocument(row["document_id"], tuple(row["token_ids"]), None, row["sha256"]) for row in rows
    ]
    return split(documents, wanted)
