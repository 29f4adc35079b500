"""A hospital discharge summary with the daily record of the stay, and earlier admissions annexed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.medical.drugs import Drug, drugs
from corpus.medical.labs import analytes, course, egfr, healthy
from corpus.medical.patient import Patient, patient
from corpus.numerals import add_days, long_date, short_date
from corpus.people import Cast
from corpus.voice import Fact, Voice


@dataclass(frozen=True, slots=True)
class Condition:
    """Why somebody is admitted. Values at the start and the end of the stay by analyte."""

    key: str
    name: str
    start: Mapping[str, float]
    end: Mapping[str, float]
    temperature: float
    pulse: float
    systolic: float
    saturation: float
    settled: float
    acute: tuple[str, ...]
    regular: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A drug as prescribed, from one day of the stay; ``last`` is None when it goes home with the patient."""

    drug: Drug
    dose: str
    first: int
    last: int | None


@dataclass(frozen=True, slots=True)
class Stay:
    """One admission. Courses hold a value a day by analyte."""

    condition: Condition
    admitted: date
    days: int
    orders: tuple[Order, ...]
    courses: Mapping[str, tuple[float, ...]]

    @property
    def discharged(self) -> date:
        """The day of discharge, the last of the stay."""
        return add_days(self.admitted, self.days - 1)


@cache
def conditions() -> tuple[Condition, ...]:
    """The conditions of the data file."""
    data = tomllib.loads(
        resources.files("corpus").joinpath("data", "discharge.toml").read_text(encoding="utf-8")
    )
    return tuple(
        Condition(**{**row, "acute": tuple(row["acute"]), "regular": tuple(row["regular"])})
        for row in data["condition"]
    )


def _stay(dice: Dice, condition: Condition, admitted: date) -> Stay:
    days = dice.between(9, 18)
    courses = {}
    for name, analyte in analytes().items():
        well = healthy(dice, analyte)
        start = condition.start.get(name)
        end = condition.end.get(name, well)
        spread = 0.02 if name in ("sodium", "potassium") else 0.1
        first = well if start is None else start * dice.uniform(1 - spread, 1 + spread)
        courses[name] = course(dice, analyte, first, end * dice.uniform(0.97, 1.03), days)
    table = drugs()
    orders = [Order(table[name], dice.pick(table[name].doses), 1, None) for name in condition.regular]
    for name in condition.acute:
        first = dice.between(1, 2)
        stops = name not in ("loop diuretic", "aldosterone antagonist", "proton-pump inhibitor")
        last = first + dice.between(4, 6) if stops else None
        orders.append(Order(table[name], dice.pick(table[name].doses), first, last))
    return Stay(condition, admitted, days, tuple(orders), courses)


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one discharge summary."""
    voice, draft = author(dice, "medicine", "discharge", "names", "clinic", "discharge")
    cast = Cast(voice)
    admitted = add_days(date(2008, 1, 10), dice.between(0, 5400))
    person = patient(dice, cast, admitted)
    pool = dice.take(conditions(), len(conditions()))
    stay = _stay(dice, pool[0], admitted)
    consultant = f"Dr {cast.person().name}"
    hospital = cast.new("{hospital}")
    voice = voice.knowing(
        {
            **person.facts,
            "consultant": consultant,
            "junior": lambda: f"Dr {dice.pick(juniors)}",
            "year_5_20": lambda: str(admitted.year - dice.between(5, 20)),
            "discharge_date": short_date(stay.discharged),
            "pack_years": str(dice.between(20, 55)),
            "quit_years": str(dice.between(4, 15)),
        }
    )
    juniors = [cast.person().name for _ in range(4)]
    draft.add(
        f"{hospital}\n\nDISCHARGE SUMMARY\n\n"
        f"Patient: {person.person.name}    Hospital number: {person.record}\n"
        f"Date of birth: {short_date(person.born)}    Age on admission: {person.age(admitted)} years    "
        f"Sex: {'female' if person.person.woman else 'male'}\n"
        f"Admitted: {short_date(admitted)}    Discharged: {short_date(stay.discharged)}    "
        f"Length of stay: {stay.days} days\nConsultant: {consultant}    Ward: {voice.say('ward')}"
    )
    draft.add(
        voice.fill(f"Address: {cast.address()}. {person.person.title} is {{a occupation}} and {{living}}.")
    )
    draft.add("PAST HISTORY\n\n" + "\n".join(f"- {voice.say('history')}" for _ in range(dice.between(3, 6))))
    draft.add(f"ALLERGIES: {voice.say('allergy')}")
    _episode(draft, voice, person, stay)
    number = 0
    earlier = stay
    while draft.size < min_characters:
        number += 1
        gap = dice.between(70, 400)
        past = _stay(dice, pool[number % len(pool)], add_days(earlier.admitted, -gap))
        if past.discharged >= earlier.admitted or person.age(past.admitted) < 18:
            raise ValueError("an earlier admission overlaps")
        earlier = past
        draft.add(
            f"ANNEX {number}: EARLIER ADMISSION, {short_date(past.admitted)} to "
            f"{short_date(past.discharged)}\n\n"
            f"Age on that admission: {person.age(past.admitted)} years"
        )
        _episode(draft, voice.knowing({"discharge_date": short_date(past.discharged)}), person, past)
    draft.add(f"Completed by Dr {juniors[0]} for {consultant} on {long_date(stay.discharged)}")
    return f"Discharge summary {person.record}, {stay.condition.name}", draft.text()


def _episode(draft: Draft, voice: Voice, person: Patient, stay: Stay) -> None:
    dice = voice.dice
    rhythm = dice.pick(("regular", "irregularly irregular"))
    side = "left" if stay.condition.key == "pneumonia" else dice.pick(("left", "right"))
    voice = voice.knowing({"side": side, "rhythm": rhythm})
    key = stay.condition.key
    draft.add(f"PRINCIPAL DIAGNOSIS, {short_date(stay.admitted)}: {_capital(stay.condition.name)}")
    draft.add("PRESENTATION")
    draft.paragraph(
        lambda: (
            f"This {person.age(stay.admitted)}-year-old {person.facts['sex']} was admitted on "
            f"{short_date(stay.admitted)}. {_capital(voice.say(f'{key}_story'))}"
        )
    )
    draft.paragraph(lambda: voice.say(f"{key}_scan"))
    draft.add(f"RESULTS DURING THE STAY\n\n{_table(stay, person)}")
    draft.add("DAILY RECORD")
    for day in range(1, stay.days + 1):
        _day(draft, voice, person, stay, day)
    draft.add(f"MEDICATION ON DISCHARGE, {short_date(stay.discharged)}\n" + "\n".join(_medication(stay)))
    draft.add("ADVICE TO THE GENERAL PRACTITIONER")
    draft.paragraph(
        lambda: (
            " ".join(voice.say("advice") for _ in range(dice.between(3, 5)))
            + f" Issued {short_date(stay.discharged)}."
        )
    )


def _day(draft: Draft, voice: Voice, person: Patient, stay: Stay, day: int) -> None:
    dice = voice.dice
    left = (1 - (day - 1) / stay.days) ** 2
    illness = stay.condition
    lost = 0.75 if illness.key == "heartfailure" else 0.1
    today: dict[str, Fact] = {
        "weight_now": f"{person.weight_kg - lost * day:.1f}",
        "days_left": f"{stay.days - day} day{'s' if stay.days - day > 1 else ''}",
    }
    phase = "early" if 2 * day <= stay.days else "late"
    voice = voice.knowing(today)
    draft.add(f"Day {day}, {short_date(add_days(stay.admitted, day - 1))}")
    draft.paragraph(
        lambda: " ".join(
            (
                _round(voice, stay, day),
                voice.say(f"{illness.key}_{phase if dice.chance(0.4) else 'day'}"),
                voice.say(f"exam_general_{phase}"),
            )
        )
    )
    systems = dice.take(("exam_chest", "exam_heart", "exam_abdomen", "exam_neuro"), dice.between(2, 3))
    signs = _signs(dice, illness, left)
    draft.paragraph(lambda: " ".join([signs, *(voice.say(name) for name in systems)]))
    draft.paragraph(lambda: f"{voice.say('nursing')} {voice.say('therapy')}")
    draft.paragraph(lambda: f"Plan: {' '.join([*_changes(stay, day), *_plans(voice, stay, day)])}")


def _signs(dice: Dice, illness: Condition, left: float) -> str:
    """The observations of a day: those on arrival when ``left`` is 1, normal when it is 0."""

    def between(usual: float, ill: float, noise: float) -> float:
        return usual + (ill - usual) * left + dice.uniform(-noise, noise)

    systolic = round(between(124, illness.systolic, 6))
    return (
        f"Temperature {between(36.7, illness.temperature, 0.2):.1f} °C, "
        f"pulse {between(76, illness.pulse, 4):.0f}/min, "
        f"blood pressure {systolic}/{systolic * dice.uniform(0.54, 0.64):.0f} mmHg, "
        f"respiratory rate {between(15, 24, 1.5):.0f}/min, "
        f"saturation {min(99.0, between(illness.settled, illness.saturation, 1)):.0f} per cent."
    )


def _round(voice: Voice, stay: Stay, day: int) -> str:
    """Who saw the patient: the post-take round comes first, the weekend's on a weekend."""
    if day == 1:
        return "Post-take round."
    weekend = add_days(stay.admitted, day - 1).weekday() >= 5
    return "Weekend review." if weekend else voice.say("round_open")


def _plans(voice: Voice, stay: Stay, day: int) -> list[str]:
    """What is to be done next; on the last day the patient goes home."""
    if day == stay.days:
        return [voice.say("plan_last")]
    return [voice.say("plan"), voice.say("plan_near" if day > stay.days - 5 else "plan")]


def _changes(stay: Stay, day: int) -> list[str]:
    lines = []
    for order in stay.orders:
        if order.first == day and order.drug.drug_class in stay.condition.regular:
            lines.append(f"Usual {order.drug.order(order.dose)} continued; monitor {order.drug.watch}.")
        elif order.first == day:
            lines.append(
                f"Start {order.drug.order(order.dose)} ({order.drug.drug_class}); monitor {order.drug.watch}."
            )
        if order.last == day:
            lines.append(f"{_capital(order.drug.name)} completed today, {day - order.first + 1} days given.")
    return lines


def _medication(stay: Stay) -> list[str]:
    kept = [f"- {order.drug.order(order.dose)}, to continue" for order in stay.orders if order.last is None]
    ended = [
        f"- {order.drug.name}: course of {order.last - order.first + 1} days completed on "
        f"{short_date(add_days(stay.admitted, order.last - 1))}"
        for order in stay.orders
        if order.last is not None
    ]
    return kept + ended


def _table(stay: Stay, person: Patient) -> str:
    days = sorted({1, 2, 4, stay.days // 2 + 1, stay.days})
    rows = [
        "Test (unit; reference) | " + " | ".join(short_date(add_days(stay.admitted, day - 1)) for day in days)
    ]
    for name, analyte in analytes().items():
        values = [stay.courses[name][day - 1] for day in days]
        cells = [f"{analyte.text(value)} {analyte.flag(value)}".strip() for value in values]
        label = f"{_capital(name)} ({analyte.unit}; {analyte.text(analyte.low)}–{analyte.text(analyte.high)})"
        rows.append(f"{label} | " + " | ".join(cells))
        if name == "creatinine":
            rates = [str(egfr(value, person.age(stay.admitted), person.person.woman)) for value in values]
            rows.append("Estimated filtration rate (mL/min/1.73 m²) | " + " | ".join(rates))
    return "\n".join(rows)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
