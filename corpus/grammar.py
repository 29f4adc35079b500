"""A small language for sentences with holes, and its compiler.

A rule file has headers ``[name]``, each followed by its alternatives, one a line. Within an alternative:

=====================  =====================================================================
``{name}``             a fact of the document, or an alternative of the rule of that name
``{^name}``            the same, its first letter a capital
``{a name}``           the same, with "a" or "an" before it; ``{A name}`` with "A" or "An"
``{3..30}``            a whole number of that range; ``{5..90/5}`` in steps of five
``{w 3..30}``          the number in words; ``{W 3..30}`` its first letter a capital
``{1.20..4.80}``       a number with as many decimals as are written
``{ref topic}``        the number of the section on that topic; ``{ref *}`` that of any other clause
``[one|two|]``         one of these texts, the last of them empty
=====================  =====================================================================
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from corpus.numerals import in_words
from corpus.synonyms import vary


@dataclass(frozen=True, slots=True)
class Slot:
    """A hole that a fact or another rule fills; ``shaped`` when the text cannot go in as it is."""

    name: str
    capital: bool
    article: str
    shaped: bool


@dataclass(frozen=True, slots=True)
class Range:
    """A hole that a number fills, drawn from ``low`` to ``high`` in units of the last decimal written."""

    low: int
    high: int
    step: int
    decimals: int
    words: str

    def text(self, fraction: float, style: str) -> str:
        """The number at a fraction, from 0 up to 1, of the range; ``style`` is that of numbers in words.

        A document writes them as ``words``, as ``digits``, or as ``both``: fourteen (14). At the beginning
        of a sentence they are always words.
        """
        value = self.low + self.step * int(fraction * ((self.high - self.low) // self.step + 1))
        if self.words:
            if self.words == "W ":
                return in_words(value).capitalize()
            if style == "digits":
                return str(value)
            return in_words(value) if style == "words" else f"{in_words(value)} ({value})"
        return str(value) if not self.decimals else f"{value / 10**self.decimals:.{self.decimals}f}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A hole for the number of a section, filled when the whole document stands."""

    topic: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several texts."""

    options: tuple[Template, ...]


Part = str | Slot | Range | Reference | Choice
Template = tuple[Part, ...]
Rules = dict[str, tuple[Template, ...]]

_HEADER = re.compile(r"\[([a-z0-9_]+)\]")
_RANGE = re.compile(r"([wW] )?(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(?:/(\d+))?")


@cache
def rules(*files: str) -> Rules:
    """The rules of the named data files together; a later file may not redefine a rule."""
    found: Rules = {}
    for file in files:
        for name, lines in _read(file).items():
            if name in found:
                raise ValueError(f"{file}: the rule {name} exists already")
            found[name] = tuple(compile_template(vary(line, file)) for line in lines)
    return found


def _read(file: str) -> dict[str, list[str]]:
    text = resources.files("corpus").joinpath("data", f"{file}.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        header = _HEADER.fullmatch(line)
        if header:
            lines = found.setdefault(header[1], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return found


@cache
def compile_template(source: str) -> Template:
    """Turn one alternative into its parts.

    Raises:
        ValueError: A bracket or brace is not closed.
    """
    parts, rest = _sequence(source, 0, nested=False)
    if rest != len(source):
        raise ValueError(f"stray bracket in template: {source}")
    return parts


def _sequence(source: str, at: int, *, nested: bool) -> tuple[Template, int]:
    parts: list[Part] = []
    while at < len(source):
        sign = source[at]
        if sign == "{":
            end = source.index("}", at)
            parts.append(_hole(source[at + 1 : end]))
            at = end + 1
        elif sign == "[":
            options: list[Template] = []
            while at < len(source) and source[at] != "]":
                option, at = _sequence(source, at + 1, nested=True)
                options.append(option)
            parts.append(Choice(tuple(options)))
            at += 1
        elif sign in "|]" and nested:
            break
        else:
            end = at
            while end < len(source) and source[end] not in ("{[|]" if nested else "{["):
                end += 1
            parts.append(source[at:end])
            at = end
    if nested and at == len(source):
        raise ValueError(f"bracket not closed in template: {source}")
    return tuple(parts), at


def _hole(inner: str) -> Part:
    number = _RANGE.fullmatch(inner)
    if number:
        words, low, high, step = number.groups()
        decimals = len(low.partition(".")[2])
        scale = 10**decimals
        return Range(
            round(float(low) * scale), round(float(high) * scale), int(step or 1), decimals, words or ""
        )
    if inner.startswith("ref "):
        return Reference(inner[4:])
    article = inner[0] if inner.startswith(("a ", "A ")) else ""
    name = inner[2:] if article else inner
    capital = name.startswith("^")
    return Slot(name.removeprefix("^"), capital, article, capital or bool(article))
