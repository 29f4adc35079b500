"""A patient and the staff around: people whose ages agree with their dates of birth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from corpus.dice import Dice
from corpus.numerals import add_days, years_between
from corpus.people import Cast, Person
from corpus.voice import Fact


@dataclass(frozen=True, slots=True)
class Patient:
    """Somebody who is treated.

    Attributes:
        weight_kg: On the first day.
    """

    person: Person
    born: date
    height_cm: int
    weight_kg: float
    record: str

    def age(self, day: date) -> int:
        """Full years on a day."""
        return years_between(self.born, day)

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The words that sentences about the patient need."""
        return {
            "subject": self.person.subject,
            "possessive": self.person.possessive,
            "obj": "her" if self.person.woman else "him",
            "sex": "woman" if self.person.woman else "man",
        }


def patient(dice: Dice, cast: Cast, day: date, youngest: int = 34, oldest: int = 88) -> Patient:
    """A patient whose age on a day lies within the limits, both included."""
    person = cast.person()
    born = add_days(day, -int(dice.between(youngest, oldest) * 365.25) - dice.between(8, 350))
    height = dice.between(151, 172) if person.woman else dice.between(163, 190)
    weight = round(dice.uniform(20.5, 33) * (height / 100) ** 2, 1)
    return Patient(
        person, born, height, weight, f"{dice.pick('BCDFGHKLMNPR')}{dice.between(1000000, 9999999)}"
    )
