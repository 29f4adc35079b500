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
MONTHS = _LISTS["months"]
UNITS = _LISTS["units"]


def sentences(seed: int = 0, count: int = 30_000) -> Iterator[str]:
    """Generate sentences, the same for the same seed."""
    source = random.Random(seed)  # noqa: S311
    for number in range(count):
        yield _sentence(source, number)


def _sentence(source: random.Random, number: int) -> str:
    words: list[str] = []
    for _ in range(source.randint(2, 5)):
        words += [_common(source), source.choice(ADJECTIVES), _noun(source), _verb(source), _common(source)]
        words += [_noun(source), _number(source)] if source.random() < 0.2 else [_noun(source)]
    text = " ".join(words)
    ending = source.choice([".", ".", ".", ";", ":", "?", f" ({source.choice(ADJECTIVES)}).", ".\n", ".\n\n"])
    opening = f"{number % 40 + 1}.{source.randint(1, 12)} " if source.random() < 0.1 else ""
    return f"{opening}{text[0].upper()}{text[1:]}{ending}"


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


def _number(source: random.Random) -> str:
    if source.random() < 0.3:
        return f"{source.randint(1, 28)} {source.choice(MONTHS)} {source.randint(1950, 2030)}"
    return f"{source.choice([source.randint(0, 20), source.randint(0, 999)])} {source.choice(UNITS)}"
