"""English-like text, generated, for training the tiny model's tokenizer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path


def _word_lists(path: Path) -> dict[str, list[str]]:
    """Read lists of words, each after a line with its name in brackets."""
    lists: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = lists.setdefault(line.strip("[]"), [])
        else:
            words += line.split()
    return lists


_LISTS = _word_lists(Path(__file__).with_name("model_words.txt"))
FUNCTION_WORDS = _LISTS["function_words"]
"""The most frequent first."""
NOUNS = _LISTS["nouns"]
VERBS = _LISTS["verbs"]
ADJECTIVES = _LISTS["adjectives"]
OPENINGS = _LISTS["openings"]
"""Words that often begin a sentence, or are names."""
MONTHS = _LISTS["months"]
UNITS = _LISTS["units"]


def sentences(seed: int = 0, count: int = 30_000) -> Iterator[str]:
    """Generate sentences, the same for the same seed."""
    source = random.Random(seed)  # noqa: S311
    for number in range(count):
        yield _sentence(source, number)


def _sentence(source: random.Random, number: int) -> str:
    words = [source.choice(OPENINGS)]
    for _ in range(source.randint(2, 5)):
        words += [_common(source), source.choice(ADJECTIVES), _noun(source), _verb(source), _common(source)]
        words += [_noun(source), _quantity(source)] if source.random() < 0.3 else [_noun(source)]
    ending = source.choice([".", ".", ".", ";", ":", "?", f" ({source.choice(ADJECTIVES)}).", ".\n", ".\n\n"])
    section = f"{number % 40 + 1}.{source.randint(1, 12)} " if source.random() < 0.1 else ""
    return f"{section}{' '.join(words)}{ending}"


def _common(source: random.Random) -> str:
    """Draw a function word; earlier ones are far more frequent, as in English."""
    return FUNCTION_WORDS[int(len(FUNCTION_WORDS) * source.random() ** 3)]


def _noun(source: random.Random) -> str:
    word = source.choice(NOUNS)
    if source.random() < 0.3:
        word = word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"
    if source.random() < 0.08:
        word = word.capitalize()
    return word + ("," if source.random() < 0.1 else "")


def _verb(source: random.Random) -> str:
    word = source.choice(VERBS)
    stem = word.removesuffix("e")
    return source.choice([word, f"{word}s", f"{stem}ed", f"{stem}ing", f"be {stem}ed"])


def _quantity(source: random.Random) -> str:
    """Write a date, a time, a reference or a measured value."""
    day, month, year = source.randint(1, 28), source.choice(MONTHS), source.randint(1930, 2030)
    whole, part = source.choice([source.randint(0, 20), source.randint(0, 999)]), source.randint(0, 99)
    return source.choice(
        [
            f"{day} {month} {year}",
            f"{day:02}-{month[:3]}-{year}",
            f"{source.randint(0, 23):02}:{part % 60:02}",
            f"section {whole}.{part % 20}",
            f"({source.choice('abcdefgh')})",
            f"{whole}/{part}",
            f"{whole},{part:03} {source.choice(UNITS)}",
            f"{whole}.{part % 10} {source.choice(UNITS)}",
            f"{whole} {source.choice(UNITS)}",
        ]
    )
