"""The documents of a run as token ids: made once with the served model's tokenizer, then kept."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from corpus.borders import chunk_ends, token_ends
from corpus.chunks import expected_hit_tokens, shared_chunks
from corpus.document import Document
from corpus.errors import CorpusError
from corpus.generate import characters_for, document
from corpus.own import Problem
from corpus.prefix import system_prompt, with_prefix
from corpus.tokens import TokenDocument, cut
from kvtui.campaign.own_documents import Source, cut_source
from kvtui.campaign.tokenizing import Tokenize, Tokens
from kvtui.errors import RunFailed
from kvtui.fit import GATE_DOCUMENTS, WARMUP_DOCUMENTS, pass_order, plan_scan
from kvtui.plan import Plan
from kvtui.samples import Pass

# Where a tokenizer takes more characters for a token than any that was met, more text is made.
TIMES_AS_LONG = (1, 2, 4)


@dataclass(frozen=True, slots=True)
class About:
    """What a reader wants to know of a document whose ids were sent.

    Attributes:
        domain: ``legal``, ``medical`` or ``own``.
        kind: What sort of text it is.
        title: One line that names it.
        text_sha256: Digest of its text, to know it again.
        chunk_ends: The character of its text after which each chunk of the request ends; ``None`` where the
            tokenizer did not tell.
        sent_characters: How many characters of its text were sent; ``None`` likewise.
    """

    domain: str
    kind: str
    title: str
    text_sha256: str
    chunk_ends: tuple[int, ...] | None
    sent_characters: int | None


@dataclass(frozen=True, slots=True)
class RunDocuments:
    """Token documents by purpose.

    Attributes:
        corpus: Those that are measured.
        gate: Those of the sanity gate; they have no prefix.
        warmup: Those of the warm-up; they have no prefix.
        about: What is known of each of the corpus, by its place.
        problems: What was wrong with a person's own files.
    """

    corpus: tuple[TokenDocument, ...]
    gate: tuple[TokenDocument, ...]
    warmup: tuple[TokenDocument, ...]
    about: tuple[About, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def sha256(self) -> str:
        """Checksum over all token ids, in order."""
        digest = hashlib.sha256()
        for one in (*self.corpus, *self.gate, *self.warmup):
            digest.update(one.sha256.encode())
        return digest.hexdigest()


def in_order(
    plan: Plan, step: Pass, repeat: int, documents: Sequence[TokenDocument]
) -> tuple[TokenDocument, ...]:
    """The documents in the order in which a measured pass of a repeat asks for them."""
    order = pass_order(plan_scan(plan, repeat=repeat), 1 if step is Pass.CACHED else 0)
    return tuple(documents[number] for number in order)


def shared_tokens(documents: Sequence[TokenDocument], chunk_tokens: int) -> dict[str, int]:
    """Tokens of each request that those before it have in common with it, in whole chunks.

    So much is found again in any pass, be it cold: a prefix, or what own documents share.
    """
    hits = expected_hit_tokens([one.token_ids for one in documents], chunk_tokens)
    return {one.document_id: found for one, found in zip(documents, hits, strict=True)}


async def _generated(
    plan: Plan, tokenize: Tokenize, places: range, length: int
) -> tuple[list[Document], list[TokenDocument], list[Tokens]]:
    """Generated documents of exactly ``length`` tokens.

    Raises:
        RunFailed: The texts stay too short under this tokenizer.
    """
    for factor in TIMES_AS_LONG:
        texts = [document(plan.corpus.seed, place, characters_for(length) * factor) for place in places]
        said = [await tokenize(text.text) for text in texts]
        try:
            cuts = [cut(text, tokens.ids, length) for text, tokens in zip(texts, said, strict=True)]
        except CorpusError as error:
            short = error
            continue
        return texts, cuts, said
    raise RunFailed(f"The documents stay too short: {short}.", "Ask for fewer tokens.")


def _about(plan: Plan, one: Document, tokens: Tokens | None) -> About:
    ends = None
    if tokens is not None and tokens.pieces is not None:
        ends = token_ends(one.text, tokens.pieces)
    corpus, chunk = plan.corpus, plan.hash.chunk_tokens
    chunks = None if ends is None else chunk_ends(ends, corpus.tokens, chunk, corpus.prefix_tokens)
    sent = None if ends is None else ends[corpus.tokens - 1]
    return About(one.domain, one.kind, one.title, one.sha256, chunks, sent)


async def _prefixed(
    plan: Plan, tokenize: Tokenize, cuts: Sequence[TokenDocument]
) -> tuple[TokenDocument, ...]:
    corpus = plan.corpus
    if not corpus.prefix_tokens:
        return tuple(cuts)
    for factor in TIMES_AS_LONG:
        prompt = system_prompt(corpus.seed, characters_for(corpus.prefix_tokens) * factor)
        ids = (await tokenize(prompt)).ids
        if len(ids) >= corpus.prefix_tokens:
            break
    try:
        return with_prefix(ids, corpus.prefix_tokens, cuts)
    except CorpusError as error:
        raise RunFailed(f"The prefix stays too short: {error}.", "Ask for fewer prefix_tokens.") from error


async def make_documents(plan: Plan, tokenize: Tokenize, source: Source | None = None) -> RunDocuments:
    """Make the documents of a run, each of exactly the plan's length, after the plan's prefix.

    Args:
        plan: The plan.
        tokenize: The served model's tokenizer.
        source: A person's own documents, or ``None`` to generate them.

    Raises:
        RunFailed: The texts stay too short under this tokenizer, or two generated documents begin alike.
        PreflightError: Too few own documents are long enough.
    """
    corpus, more = plan.corpus, GATE_DOCUMENTS + WARMUP_DOCUMENTS
    after = corpus.documents + more
    # The gate and the warm-up get whole requests of their own that share nothing.
    _, rest, _ = await _generated(plan, tokenize, range(corpus.documents, after), corpus.prompt_tokens)
    said: Sequence[Tokens | None]
    problems: tuple[Problem, ...] = ()
    if source is None:
        texts, cuts, said = await _generated(plan, tokenize, range(corpus.documents), corpus.tokens)
        # A chunk's key hangs on all that comes before it, so only a common beginning can be found again.
        for shared in shared_chunks([*cuts, *rest], plan.hash.chunk_tokens):
            if shared.hit:
                raise RunFailed(
                    f"Documents {shared.first_id} and {shared.second_id} begin alike: no cold pass is cold.",
                    "Choose another corpus seed.",
                )
    else:
        own = await cut_source(plan, source, tokenize, after)
        texts, cuts, said, problems = list(own.documents), list(own.token_documents), own.tokens, own.problems
    about = tuple(_about(plan, text, tokens) for text, tokens in zip(texts, said, strict=True))
    sent = await _prefixed(plan, tokenize, cuts)
    return RunDocuments(sent, tuple(rest[:GATE_DOCUMENTS]), tuple(rest[GATE_DOCUMENTS:]), about, problems)


def save_documents(documents: RunDocuments, path: Path) -> None:
    """Write the token ids to a file, whole or not at all."""
    rows: list[dict[str, Any]] = [
        {"document_id": one.document_id, "token_ids": one.token_ids, "sha256": one.sha256}
        for one in (*documents.corpus, *documents.gate, *documents.warmup)
    ]
    for row, about in zip(rows, documents.about, strict=False):
        row["about"] = asdict(about)
    part = path.with_suffix(".part")
    part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    os.replace(part, path)


def _about_from(data: dict[str, Any]) -> About:
    ends = data["chunk_ends"]
    return About(**{**data, "chunk_ends": None if ends is None else tuple(ends)})


def load_documents(path: Path, wanted: int) -> RunDocuments:
    """Read the token ids of a run back.

    Args:
        path: The file.
        wanted: Documents of the plan; those after them serve the gate and the warm-up.
    """
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    documents = [
        TokenDocument(row["document_id"], tuple(row["token_ids"]), None, row["sha256"]) for row in rows
    ]
    about = tuple(_about_from(row["about"]) for row in rows if "about" in row)
    corpus, rest = documents[:wanted], documents[wanted:]
    return RunDocuments(tuple(corpus), tuple(rest[:GATE_DOCUMENTS]), tuple(rest[GATE_DOCUMENTS:]), about)
