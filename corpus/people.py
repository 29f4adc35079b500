"""Invented people, firms, places and sums."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.voice import Voice


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who does not exist."""

    given: str
    surname: str
    woman: bool

    @property
    def name(self) -> str:
        """Given name and surname."""
        return f"{self.given} {self.surname}"

    @property
    def title(self) -> str:
        """``Ms`` or ``Mr`` with the surname."""
        return f"{'Ms' if self.woman else 'Mr'} {self.surname}"

    @property
    def subject(self) -> str:
        """``she`` or ``he``."""
        return "she" if self.woman else "he"

    @property
    def possessive(self) -> str:
        """``her`` or ``his``."""
        return "her" if self.woman else "his"


class Cast:
    """Hands out names, none of them twice in a document."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._used: list[str] = []

    def person(self, woman: bool | None = None) -> Person:
        """A person with a surname that nobody else in the document has."""
        female = self._voice.dice.chance(0.5) if woman is None else woman
        return Person(self._voice.say("given_f" if female else "given_m"), self.new("{surname}"), female)

    def firm(self) -> str:
        """A company with its legal form."""
        return self.new("{firm_stem} {trade} {firm_suffix}")

    def place(self) -> str:
        """A town."""
        return self.new("{place}")

    def address(self) -> str:
        """A street address in a town."""
        return f"{self._voice.dice.between(1, 188)} {self._voice.say('street')}, {self.place()}"

    def new(self, template: str) -> str:
        """A filling of the template that has not been used before."""
        while True:
            name = self._voice.fill(template)
            if name not in self._used:
                self._used.append(name)
                return name


def grouped(amount: int) -> str:
    """A whole number with commas at the thousands."""
    return f"{amount:,}"
