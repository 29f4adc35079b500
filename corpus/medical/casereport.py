"""A report of a series of adverse reactions to one drug, with references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.medical.drugs import Drug, drugs, for_long_use, others
from corpus.medical.labs import analytes
from corpus.medical.patient import Patient, patient
from corpus.numerals import add_days, in_words, long_date
from corpus.people import Cast
from corpus.voice import Fact, Voice, pointer


@dataclass(frozen=True, slots=True)
class Case:
    """One patient of the series. Days are counted from the first dose."""

    patient: Patient
    onset: date
    latency_days: int
    stopped: date
    recovered: date
    full: bool
    naranjo: int

    @property
    def naranjo_word(self) -> str:
        """The Naranjo scale's own word for the score."""
        return "definite" if self.naranjo >= 9 else "probable" if self.naranjo >= 5 else "possible"


_RULES = ("names", "clinic", "casereport", "history", "bedside")


def _case(dice: Dice, cast: Cast) -> Case:
    onset = add_days(date(2009, 1, 5), dice.between(0, 5000))
    stopped = add_days(onset, dice.between(1, 9))
    return Case(
        patient=patient(dice, cast, onset, 29, 84),
        onset=onset,
        latency_days=dice.between(5, 160),
        stopped=stopped,
        recovered=add_days(stopped, dice.between(20, 150)),
        full=dice.chance(0.8),
        naranjo=dice.between(3, 8),
    )


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one case report."""
    voice, draft = author(dice, "medicine", "casereport", *_RULES)
    cast = Cast(voice)
    reaction, symptoms, sign, organ, markers = voice.say("reaction").split("|")
    drug = dice.pick(for_long_use())
    counted: dict[str, Fact] = {
        name: pointer(name) for name in ("case_count", "latency_min", "latency_max", "recovered", "women")
    }
    voice = voice.knowing(
        {
            **counted,
            "reaction": reaction,
            "symptoms": symptoms,
            "sign": sign,
            "organ": organ,
            "drug": drug.name,
            "drug_class": drug.drug_class,
            "watch": drug.watch.split(" and ")[0],
            "indication": drug.indication,
            "rescue_drug": drugs()["corticosteroid"].name,
        }
    )
    authors = [cast.person() for _ in range(dice.between(3, 6))]
    names = ", ".join(f"{person.given[0]}. {person.surname}" for person in authors)
    hospital = cast.new("{hospital}")
    subject = f"{reaction[:1].upper()}{reaction[1:]} during treatment with {drug.name}"
    title = f"{subject}: a series of cases from {hospital}"
    draft.add(f"{title}\n\n{names}\n\nDepartment of Medicine, {hospital}")
    for heading, rule in (("ABSTRACT", "abstract"), ("INTRODUCTION", "intro")):
        draft.add(heading)
        for index in range(voice.size(rule)):
            draft.paragraph(partial(voice.nth, rule, index))
    cases = _cases(draft, voice, cast, drug, markers, min_characters)
    draft.add("DISCUSSION")
    for index in range(voice.size("discussion")):
        draft.paragraph(partial(voice.nth, "discussion", index))
    draft.add("THE PATIENTS' VIEW")
    draft.paragraph(partial(voice.say, "patient_view"))
    full = sum(case.full for case in cases)
    draft.name("case_count", str(len(cases)))
    draft.name("recovered", in_words(full).capitalize())
    draft.name("women", in_words(sum(case.patient.person.woman for case in cases)))
    draft.name("latency_min", str(min(case.latency_days for case in cases)))
    draft.name("latency_max", str(max(case.latency_days for case in cases)))
    text, count = _cite(draft.text())
    return title, f"{text}\nREFERENCES\n\n{_references(voice, count)}\n"


def _cases(
    draft: Draft, voice: Voice, cast: Cast, drug: Drug, markers: str, min_characters: int
) -> list[Case]:
    cases: list[Case] = []
    while draft.size < min_characters or len(cases) < 3:
        case = _case(voice.dice, cast)
        cases.append(case)
        draft.add(f"CASE {len(cases)}")
        known = voice.knowing(_facts(voice, case, drug, markers))
        draft.paragraph(partial(known.fill, "{case_open} {case_background} {bedside}"))
        draft.paragraph(partial(known.say, "case_exam"))
        draft.paragraph(partial(known.say, "case_tests"))
        draft.paragraph(partial(known.fill, "{case_thought} {bedside}"))
        draft.paragraph(partial(known.fill, "{case_course} {case_causality}"))
    return cases


def _facts(voice: Voice, case: Case, drug: Drug, markers: str) -> Mapping[str, Fact]:
    dice = voice.dice
    first, second = dice.take(others(drug), 2)
    history = dice.take(range(voice.size("illness")), 2)
    outcome = "outcome_recovered" if case.full else "outcome_sequelae"
    facts: dict[str, Fact] = {
        **case.patient.facts,
        "age": str(case.patient.age(case.onset)),
        "weight": f"{case.patient.weight_kg:.0f}",
        "dose": dice.pick(drug.doses),
        "latency": str(case.latency_days),
        "onset_date": long_date(case.onset),
        "stop_date": long_date(case.stopped),
        "recovery_date": long_date(case.recovered),
        "stay": str((case.stopped - case.onset).days + dice.between(2, 6)),
        "naranjo": str(case.naranjo),
        "naranjo_word": case.naranjo_word,
        "history_a": voice.nth("illness", history[0]),
        "history_b": voice.nth("illness", history[1]),
        "other_drug_a": first.order(first.doses[0]),
        "other_drug_b": second.order(second.doses[-1]),
        "lab_line": _lab_line(dice, markers),
    }
    facts["outcome_sentence"] = lambda: voice.knowing(facts).say(outcome)
    return facts


def _lab_line(dice: Dice, markers: str) -> str:
    """Values of which those that mark the reaction are abnormal and the others near normal."""
    values: dict[str, float] = {}
    for marker in markers.split(";"):
        name, low, high = marker.split(":")
        values[name] = dice.uniform(float(low), float(high))
    for name in dice.take([name for name in analytes() if name not in values], 3):
        analyte = analytes()[name]
        width = analyte.high - analyte.low
        values[name] = dice.uniform(analyte.low + 0.05 * width, analyte.high + 0.1 * width)
    parts = []
    for name, value in values.items():
        analyte = analytes()[name]
        parts.append(
            f"{name} {analyte.text(value)} {analyte.unit} "
            f"({analyte.text(analyte.low)}–{analyte.text(analyte.high)})"
        )
    return ", ".join(parts)


def _cite(text: str) -> tuple[str, int]:
    """Number the citations in the order of their appearance."""
    numbers = iter(range(1, 10_000))
    text, count = re.subn("#cite#", lambda _: f"[{next(numbers)}]", text)
    return text, count


def _references(voice: Voice, count: int) -> str:
    dice = voice.dice
    lines = []
    for number in range(1, count + 1):
        authors = ", ".join(voice.fill("{surname}") + f" {dice.pick('ABCDEFGHJKLMNPRST')}" for _ in range(3))
        page = dice.between(11, 890)
        journal, year = voice.say("journal"), dice.between(1994, 2008)
        lines.append(
            f"{number}. {authors}. {voice.say('ref_title')}. {journal} {year};"
            f"{dice.between(4, 98)}:{page}–{page + dice.between(3, 11)}."
        )
    return "\n".join(lines)
