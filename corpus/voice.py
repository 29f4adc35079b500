"""A document's voice: it fills the holes of templates from the document's facts and its dice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from corpus.dice import Dice
from corpus.grammar import Choice, Range, Reference, Rules, Slot, Template, compile_template

# A sound, not a letter: also abbreviations that are read letter by letter, as "SGLT2".
_VOWEL = re.compile(r"[aeiouAEIOU8]|[FHLMNRSX][A-Z]+\d")

Fact = str | Callable[[], str]

REFERENCE_OPEN = "\x01"
REFERENCE_CLOSE = "\x02"


def pointer(topic: str) -> str:
    """A reference to what the draft will know under this name when the document stands.

    It is in capitals, so that no house style takes it for a word.
    """
    return f"{REFERENCE_OPEN}{topic.upper()}{REFERENCE_CLOSE}"


class Voice:
    """Renders rules. No alternative of a rule comes twice in a document before each has come once.

    Attributes:
        dice: What decides.
        numbers: How numbers in words are written: ``words``, ``digits`` or ``both``.
    """

    __slots__ = ("_facts", "_rules", "dice", "numbers")

    def __init__(self, rules: Rules, dice: Dice, facts: Mapping[str, Fact], numbers: str) -> None:
        self._rules = rules
        self._facts = dict(facts)
        self.dice = dice
        self.numbers = numbers

    def knowing(self, facts: Mapping[str, Fact]) -> Voice:
        """The same voice, with the same dice, that knows more facts."""
        return Voice(self._rules, self.dice, {**self._facts, **facts}, self.numbers)

    def say(self, rule: str) -> str:
        """One alternative of a rule, filled in.

        Raises:
            KeyError: Neither a fact nor a rule has this name, or that of a hole in it.
        """
        return self._render(self._deal(rule))

    def fill(self, template: str) -> str:
        """A template filled in."""
        return self._render(compile_template(template))

    def nth(self, rule: str, index: int) -> str:
        """The alternative at a place of a rule, for rules whose order carries sense."""
        return self._render(self._rules[rule][index])

    def size(self, rule: str) -> int:
        """How many alternatives a rule has."""
        return len(self._rules[rule])

    def _render(self, template: Template) -> str:
        out: list[str] = []
        self._append(template, out)
        return "".join(out)

    def _deal(self, rule: str) -> Template:
        options = self._rules[rule]
        if len(options) == 1:
            return options[0]
        return options[self.dice.deal(rule, len(options))]

    def _append(self, template: Template, out: list[str]) -> None:
        random = self.dice.random
        for part in template:
            if type(part) is str:
                out.append(part)
            elif type(part) is Slot:
                fact = self._facts.get(part.name)
                if fact is not None:
                    text = fact if isinstance(fact, str) else fact()
                    out.append(_shaped(text, part) if part.shaped else text)
                elif part.shaped:
                    out.append(_shaped(self._render(self._deal(part.name)), part))
                else:
                    self._append(self._deal(part.name), out)
            elif type(part) is Choice:
                options = part.options
                self._append(options[int(random() * len(options))], out)
            elif type(part) is Range:
                out.append(part.text(random(), self.numbers))
            elif type(part) is Reference:
                out.append(pointer(part.topic))


def _shaped(text: str, slot: Slot) -> str:
    """The text with a capital or an article, as the slot wants it."""
    if slot.capital:
        text = text[:1].upper() + text[1:]
    if slot.article:
        return f"{slot.article}n {text}" if _VOWEL.match(text) else f"{slot.article} {text}"
    return text
