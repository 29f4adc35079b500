"""What ``kvtui corpus`` does: collects the documents, cuts them, writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from corpus import (
    DEFAULT_CHUNK_TOKENS,
    Document,
    ManifestRow,
    TokenDocument,
    characters_for,
    cut,
    generate,
    manifest,
    shared_chunks,
    to_csv,
    to_json,
)
from corpus.errors import CorpusError
from corpus.folder import MANIFEST, TABLE, ids_name, outdated, text_name
from corpus.own import Problem, Reading, exact_problems, read, text_problems
from corpus.prefix import ExpectedReuse, expected_reuse, system_prompt, with_prefix
from kvtui.engine_tokens import EngineTokenizer
from kvtui.kvsize import kv_shape, load_config

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asked for.

    Attributes:
        own: A folder or file of their own; None for generated documents.
        engine: Address of an engine whose tokenizer cuts; None to leave tokens unknown.
        prefix_tokens: Length of a shared system prompt before each document; 0 for none.
        model: A ``config.json``, for the KV bytes.
    """

    seed: int = 0
    documents: int = 30
    tokens: int = 10_000
    own: Path | None = None
    engine: str | None = None
    prefix_tokens: int = 0
    chunk_tokens: int = DEFAULT_CHUNK_TOKENS
    model: Path | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents with all that is known about them.

    Attributes:
        reading: What was found, when the documents are a person's own.
    """

    documents: tuple[Document, ...]
    token_documents: tuple[TokenDocument, ...]
    rows: tuple[ManifestRow, ...]
    problems: tuple[Problem, ...]
    reuse: tuple[ExpectedReuse, ...]
    reading: Reading | None

    @property
    def clean(self) -> bool:
        """True when nothing was left out and nothing would hit in the cold pass unasked."""
        return not self.problems


def collect(wish: Wish, say: Say) -> Collection:
    """Make or read the documents, and cut them where an engine is given.

    Raises:
        CorpusError: No document is left, or one cannot be cut.
        TokenizerError: The engine does not answer as one.
        PlanError: The model's configuration is not usable, or the engine's address is none.
    """
    reading = None
    problems: list[Problem] = []
    if wish.own is None:
        documents = generate(wish.seed, wish.documents, characters_for(wish.tokens))
    else:
        reading = read(wish.own)
        problems.extend(reading.problems)
        documents, found = text_problems(reading.documents, wish.tokens, wish.chunk_tokens)
        problems.extend(found)
    token_documents: tuple[TokenDocument, ...] = ()
    if wish.engine is not None:
        documents, token_documents, found = _cut_all(wish, documents, say)
        problems.extend(found)
    reuse: tuple[ExpectedReuse, ...] = ()
    if wish.prefix_tokens:
        lengths = [(document.document_id, wish.tokens) for document in documents]
        reuse = expected_reuse(lengths, wish.prefix_tokens, wish.chunk_tokens)
    rows = manifest(
        documents,
        token_documents,
        chunk_tokens=wish.chunk_tokens,
        kv_bytes_per_token=_bytes_per_token(wish.model),
    )
    return Collection(documents, token_documents, rows, tuple(problems), reuse, reading)


def _cut_all(
    wish: Wish, documents: tuple[Document, ...], say: Say
) -> tuple[tuple[Document, ...], tuple[TokenDocument, ...], tuple[Problem, ...]]:
    tokenizer = EngineTokenizer(wish.engine or "")
    kept: list[Document] = []
    cuts: list[TokenDocument] = []
    problems: list[Problem] = []
    for number, document in enumerate(documents, 1):
        say(f"Tokenizing {number}/{len(documents)}: {document.title}")
        ids = tokenizer.encode(document.text)
        if len(ids) < wish.tokens:
            message = f"It has {len(ids):,} tokens, fewer than {wish.tokens:,}. Nothing is padded."
            problems.append(Problem(document.title, "too-short", message, "left out"))
            continue
        short = cut(document, ids, wish.tokens, tokenizer.decode(ids[: wish.tokens]))
        if short.cut_characters is None:
            say(f"  its {wish.tokens:,} ids do not decode to the text's beginning; the ids are what is sent.")
        kept.append(document)
        cuts.append(short)
    titles = {document.document_id: document.title for document in kept}
    problems.extend(exact_problems(cuts, titles, wish.chunk_tokens))
    if wish.own is None:
        shared = shared_chunks(cuts, wish.chunk_tokens)
        if shared:
            raise CorpusError(f"Two documents share a chunk: {shared[0]}.", "Choose another seed.")
    if wish.prefix_tokens:
        head = tokenizer.encode(system_prompt(wish.seed, characters_for(wish.prefix_tokens)))
        cuts = list(with_prefix(head, wish.prefix_tokens, cuts))
    return tuple(kept), tuple(cuts), tuple(problems)


def _bytes_per_token(model: Path | None) -> int | None:
    if model is None:
        return None
    return kv_shape(load_config(model), str(model)).bytes_per_token


def save(collection: Collection, folder: Path) -> Path:
    """Write texts, ids and both manifests; the manifest comes last, so that it names only what is there.

    What an earlier corpus left there, and this one does not name, is removed; other files stay.

    Raises:
        CorpusError: The folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for document in collection.documents:
            text = folder / text_name(document.document_id)
            text.write_text(document.text, encoding="utf-8", newline="")
        for ids in collection.token_documents:
            (folder / ids_name(ids.document_id)).write_text(json.dumps(asdict(ids)), encoding="utf-8")
        for old in outdated(folder, collection.rows):
            old.unlink(missing_ok=True)
        (folder / TABLE).write_text(to_csv(collection.rows), encoding="utf-8", newline="")
        path = folder / MANIFEST
        path.write_text(to_json(collection.rows), encoding="utf-8", newline="")
    except OSError as error:
        raise CorpusError(
            f"{folder} cannot be written: {error.strerror or error}.", "Choose another folder."
        ) from error
    return path
