"""Documents from a seed: the same bytes on every machine and every Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from corpus.dice import Dice
from corpus.document import Document
from corpus.legal import judgment, lease, notice, spa, statute
from corpus.medical import casereport, discharge, guideline, narratives, protocol

Writer = Callable[[Dice, int], tuple[str, str]]

KINDS: dict[str, tuple[tuple[str, Writer], ...]] = {
    "legal": (
        ("lease", lease.write),
        ("share-purchase", spa.write),
        ("judgment", judgment.write),
        ("statute", statute.write),
        ("regulatory-notice", notice.write),
    ),
    "medical": (
        ("discharge-summary", discharge.write),
        ("case-report", casereport.write),
        ("trial-protocol", protocol.write),
        ("safety-narratives", narratives.write),
        ("guideline", guideline.write),
    ),
}

CHARACTERS_PER_TOKEN = 6.5
"""More characters than one token covers, on average over a document, in any tokenizer met so far."""


def characters_for(tokens: int) -> int:
    """Length of text, in characters, that gives at least so many tokens."""
    return int(tokens * CHARACTERS_PER_TOKEN) + 200


def document(seed: int, index: int, min_characters: int) -> Document:
    """The document at one place of the corpus, whatever the number of others."""
    domains = tuple(KINDS)
    domain = domains[index % len(domains)]
    kinds = KINDS[domain]
    kind, write = kinds[index // len(domains) % len(kinds)]
    title, text = write(Dice("kvtui corpus", seed, index, kind), min_characters)
    return Document(f"{domain}-{index + 1:03d}-{kind}", domain, kind, title, text)


def documents(seed: int, count: int, min_characters: int) -> Iterator[Document]:
    """The documents one by one, so that a large corpus need not stay in memory."""
    for index in range(count):
        yield document(seed, index, min_characters)


def generate(seed: int, count: int, min_characters: int) -> tuple[Document, ...]:
    """``count`` documents of at least ``min_characters`` characters each, legal and medical in turn."""
    return tuple(documents(seed, count, min_characters))
