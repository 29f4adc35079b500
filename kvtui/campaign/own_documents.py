"""A person's own documents for a run: read where kvtui runs, refused by file, cut to the plan's length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from corpus.document import Document
from corpus.errors import CorpusError
from corpus.generate import characters_for, document
from corpus.own import Problem, exact_problems, read, text_problems
from corpus.own.formats import TRACE
from corpus.own.trace import BLOCK_TOKENS, TraceRequest, trace_ids
from corpus.tokens import TokenDocument, cut, ids_sha256
from kvtui.campaign.tokenizing import Tokenize, Tokens
from kvtui.errors import PlanError, PreflightError
from kvtui.findings import Finding, Level
from kvtui.plan import Plan

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Source:
    """What a folder or file of a person holds.

    Attributes:
        path: Where it is.
        form: Its format in words.
        sha256: Digest of its files.
        documents: Texts that may be used, as far as their text alone tells.
        requests: Requests of a trace that are long enough; used when there is no text.
        problems: What is wrong with any file.
    """

    path: str
    form: str
    sha256: str
    documents: tuple[Document, ...]
    requests: tuple[TraceRequest, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Own documents as token ids.

    Attributes:
        documents: Where each comes from; a request of a trace has no text.
        token_documents: The ids, one each.
        tokens: What the tokenizer said of each whole text; ``None`` for a request of a trace.
        problems: What is wrong with any file, those included that only the ids tell.
    """

    documents: tuple[Document, ...]
    token_documents: tuple[TokenDocument, ...]
    tokens: tuple[Tokens | None, ...]
    problems: tuple[Problem, ...]


def _named(problems: Sequence[Problem]) -> str:
    return "; ".join(
        f"{problem.source} ({problem.message.removesuffix('.')})" for problem in problems[:_NAMED]
    )


def _too_few(plan: Plan, there: int, problems: Sequence[Problem]) -> str:
    corpus = plan.corpus
    left_out = [problem for problem in problems if problem.outcome == "left out"]
    text = (
        f"{corpus.source} holds {there} usable documents of {corpus.tokens} tokens, but the plan wants "
        f"{corpus.documents}."
    )
    return f"{text} {len(left_out)} are left out, such as {_named(left_out)}." if left_out else text


def read_source(plan: Plan) -> Source | None:
    """Read the plan's own documents, or ``None`` when it has none.

    Raises:
        PlanError: They are not there, or too few of them can be used; the files are named with the reasons.
    """
    corpus = plan.corpus
    if corpus.source is None:
        return None
    try:
        reading = read(Path(corpus.source).expanduser())
    except CorpusError as error:
        raise PlanError(f"corpus.source: {error.message}", error.hint) from error
    documents, found = text_problems(reading.documents, corpus.tokens, plan.hash.chunk_tokens)
    problems = [*reading.problems, *found]
    requests: tuple[TraceRequest, ...] = ()
    if not documents:
        requests = tuple(one for one in reading.requests if one.input_tokens >= corpus.tokens)
        problems += [
            Problem(one.source, "too-short", f"It has {one.input_tokens:,} tokens.", "left out")
            for one in reading.requests
            if one.input_tokens < corpus.tokens
        ]
    there = len(documents) or len(requests)
    if there < corpus.documents:
        raise PlanError(
            _too_few(plan, there, problems), "Ask for fewer documents or tokens; nothing is padded."
        )
    return Source(corpus.source, reading.form, reading.sha256, documents, requests, tuple(problems))


async def cut_source(plan: Plan, source: Source, tokenize: Tokenize, first_block: int) -> Cut:
    """Cut own documents to the plan's length, as many as it wants, in the order of the files.

    Args:
        plan: The plan.
        source: What was read.
        tokenize: The served model's tokenizer.
        first_block: Place in the generated corpus from which the blocks of a trace are made.

    Raises:
        PreflightError: Too few are long enough under this tokenizer.
    """
    if source.documents:
        return await _cut_texts(plan, source, tokenize)
    return await _cut_trace(plan, source, tokenize, first_block)


async def _cut_texts(plan: Plan, source: Source, tokenize: Tokenize) -> Cut:
    wanted, length = plan.corpus.documents, plan.corpus.tokens
    documents: list[Document] = []
    cuts: list[TokenDocument] = []
    said: list[Tokens | None] = []
    problems = list(source.problems)
    for one in source.documents:
        if len(cuts) == wanted:
            break
        tokens = await tokenize(one.text)
        if len(tokens.ids) < length:
            message = f"It has {len(tokens.ids):,} tokens, fewer than {length:,}. Nothing is padded."
            problems.append(Problem(one.title, "too-short", message, "left out"))
            continue
        documents.append(one)
        cuts.append(cut(one, tokens.ids, length))
        said.append(tokens)
    if len(cuts) < wanted:
        raise PreflightError(_too_few(plan, len(cuts), problems), "Ask for fewer documents or tokens.")
    # The ids tell exactly what the texts only let one guess.
    problems = [problem for problem in problems if problem.code != "shared-prefix"]
    titles = {one.document_id: one.title for one in documents}
    problems += exact_problems(cuts, titles, plan.hash.chunk_tokens)
    return Cut(tuple(documents), tuple(cuts), tuple(said), tuple(problems))


async def _cut_trace(plan: Plan, source: Source, tokenize: Tokenize, first_block: int) -> Cut:
    """Requests with made-up text that share what the trace says they share."""
    length = plan.corpus.tokens
    chosen = [
        replace(one, input_tokens=length, hash_ids=one.hash_ids[: -(-length // BLOCK_TOKENS)])
        for one in source.requests[: plan.corpus.documents]
    ]
    blocks: dict[int, tuple[int, ...]] = {}
    for hash_id in dict.fromkeys(hash_id for one in chosen for hash_id in one.hash_ids):
        text = document(plan.corpus.seed, first_block + len(blocks), characters_for(BLOCK_TOKENS))
        blocks[hash_id] = (await tokenize(text.text)).ids
    documents, cuts = [], []
    for number, one in enumerate(chosen, 1):
        try:
            ids = trace_ids(one, blocks.__getitem__)
        except CorpusError as error:
            raise PreflightError(error.message, "The tokenizer takes too many characters a token.") from error
        documents.append(Document(f"trace-{number:03d}", "own", TRACE, one.source, ""))
        cuts.append(TokenDocument(documents[-1].document_id, ids, None, ids_sha256(ids)))
    return Cut(tuple(documents), tuple(cuts), (None,) * len(cuts), source.problems)


def source_findings(problems: Sequence[Problem]) -> tuple[Finding, ...]:
    """A finding for each kind of trouble with own documents, with the first files by name."""
    found = []
    for code in dict.fromkeys(problem.code for problem in problems):
        group = [problem for problem in problems if problem.code == code]
        left_out = group[0].outcome == "left out"
        what = "left out" if left_out else "that hit each other in the cold pass"
        text = f"Own documents {what} ({code}): {len(group)}, such as "
        name = "own-documents-left-out" if left_out else "own-documents-share"
        remedy = "" if left_out else "This reuse is expected and reckoned with."
        found.append(Finding(Level.WARNING, name, f"{text}{_named(group)}.", remedy, "corpus"))
    return tuple(found)
