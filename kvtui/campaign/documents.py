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
from corpus.generate import characters_for, generate
from corpus.tokens import TokenDocument, cut
from kvtui.errors import RunFailed
from kvtui.fit import GATE_DOCUMENTS, WARMUP_DOCUMENTS, pass_order, plan_scan
from kvtui.plan import Plan
from kvtui.samples import Pass

Tokenize = Callable[[str], Awaitable[list[int]]]

# Where a tokenizer takes more characters for a token than any that was met, more text is made.
_TIMES_AS_LONG = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class RunDocuments:
    """Token documents by purpose; no two of them begin alike."""

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


def in_order(plan: Plan, step: Pass, documents: Sequence[TokenDocument]) -> tuple[TokenDocument, ...]:
    """The documents in the order in which a measured pass asks for them."""
    order = pass_order(plan_scan(plan), 1 if step is Pass.CACHED else 0)
    return tuple(documents[number] for number in order)


async def make_documents(plan: Plan, tokenize: Tokenize) -> RunDocuments:
    """Make the documents of a run, each of exactly the plan's length.

    Raises:
        RunFailed: The texts stay too short under this tokenizer, or two documents begin alike.
    """
    count = plan.corpus.documents + GATE_DOCUMENTS + WARMUP_DOCUMENTS
    for factor in _TIMES_AS_LONG:
        texts = generate(plan.corpus.seed, count, characters_for(plan.corpus.tokens) * factor)
        try:
            cuts = [cut(text, await tokenize(text.text), plan.corpus.tokens) for text in texts]
        except CorpusError as error:
            short = error
            continue
        break
    else:
        raise RunFailed(f"The documents stay too short: {short}.", "Ask for fewer tokens.")
    # A chunk's key hangs on all that comes before it, so only a common beginning can be found again.
    for shared in shared_chunks(cuts, plan.hash.chunk_tokens):
        if shared.hit:
            raise RunFailed(
                f"Documents {shared.first_id} and {shared.second_id} begin alike: no cold pass is cold.",
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
