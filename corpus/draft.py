"""A document while it is written: numbered sections, no paragraph twice, references that lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from corpus.dice import Dice
from corpus.errors import CorpusError
from corpus.voice import REFERENCE_CLOSE, REFERENCE_OPEN

_REFERENCE = re.compile(f"{REFERENCE_OPEN}([^{REFERENCE_CLOSE}]*){REFERENCE_CLOSE}")
_TRIES = 40


class Draft:
    """Collects paragraphs.

    References are kept open until the end, since a clause may point forward to one that is not written yet.

    Attributes:
        size: Characters so far, never more than the final text has.
        section: Number of the section that is open, 0 before the first.
        clause: Number of the last clause in it.
    """

    def __init__(self, dice: Dice, style: Callable[[str], str] = str) -> None:
        self._dice = dice
        self._style = style
        self._blocks: list[str] = []
        self._seen: set[str] = set()
        self._topics: dict[str, str] = {}
        self._labels: list[tuple[int, str]] = []
        self._owner: list[int] = []
        self.size = 0
        self.section = 0
        self.clause = 0

    def add(self, block: str) -> None:
        """Append a block, in the words of the house style: a heading, a table, a signature."""
        block = self._style(block)
        self._blocks.append(block)
        self._owner.append(self.section)
        # A reference will be at least one character long; counting it so never promises too much.
        length = len(_REFERENCE.sub("1", block)) if REFERENCE_OPEN in block else len(block)
        self.size += length + 2

    def open_section(self, topic: str, heading: str) -> None:
        """Begin the next section; ``{n}`` in the heading becomes its number."""
        self.section += 1
        self.clause = 0
        self._topics[topic.upper()] = str(self.section)
        self.add(heading.replace("{n}", str(self.section)))

    def styled(self, text: str) -> str:
        """The text in the words of the document's house style."""
        return self._style(text)

    def name(self, topic: str, label: str) -> None:
        """Let ``{ref topic}`` lead to this label."""
        self._topics[topic.upper()] = label

    def paragraph(self, make: Callable[[], str], prefix: str = "") -> str:
        """Append a paragraph that the document does not have yet.

        Raises:
            CorpusError: Every try gave a paragraph that is there already.
        """
        for _ in range(_TRIES):
            text = _tidy(make())
            if text not in self._seen:
                self._seen.add(text)
                self.add(prefix + text)
                return text
        raise CorpusError(
            f"The text of a document ran dry after {self.size} characters.", "Ask for shorter documents."
        )

    def numbered(self, make: Callable[[], str]) -> str:
        """Append a clause of the open section, numbered like ``7.2``."""
        self.clause += 1
        label = f"{self.section}.{self.clause}"
        self._labels.append((self.section, label))
        return self.paragraph(make, f"{label} ")

    def subsection(self, make: Callable[[], str]) -> str:
        """Append a subsection of the open section, numbered like ``(2)`` and referred to like ``7(2)``."""
        self.clause += 1
        self._labels.append((self.section, f"{self.section}({self.clause})"))
        return self.paragraph(make, f"({self.clause}) ")

    def text(self) -> str:
        """The whole document with its references resolved, ending in a line feed."""
        parts = []
        for owner, block in zip(self._owner, self._blocks, strict=True):
            if REFERENCE_OPEN in block:
                block = _REFERENCE.sub(partial(self._resolve, owner), block)
            parts.append(block)
        return "\n\n".join(parts) + "\n"

    def _resolve(self, owner: int, match: re.Match[str]) -> str:
        topic = match[1]
        if topic != "*":
            return self._topics[topic]
        for _ in range(_TRIES):
            section, label = self._dice.pick(self._labels)
            if section != owner:
                return label
        return self._labels[0][1]


def _tidy(text: str) -> str:
    """Close the gaps that an alternative left empty has made."""
    return text.replace("  ", " ").replace(" .", ".").replace(" ,", ",").replace(" ;", ";")
