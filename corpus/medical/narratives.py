"""Pharmacovigilance narratives: the serious cases of an interval for one drug, counted up at the front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.medical.drugs import Drug, drugs, for_long_use, others
from corpus.medical.patient import Patient, patient
from corpus.numerals import add_days, in_words, long_date, short_date
from corpus.people import Cast
from corpus.voice import Fact, Voice, pointer

_OUTCOMES = ("recovered", "recovered", "recovered", "recovering", "sequelae", "fatal")


@dataclass(frozen=True, slots=True)
class Report:
    """One case. Its dates run first dose, onset, stop, end, receipt."""

    patient: Patient
    started: date
    onset: date
    stopped: date
    ended: date
    received: date
    outcome: str
    related: bool

    @property
    def latency_days(self) -> int:
        """Days from the first dose to the onset."""
        return (self.onset - self.started).days


def _report(dice: Dice, cast: Cast, received: date) -> Report:
    ended = add_days(received, -dice.between(1, 20))
    stopped = add_days(ended, -dice.between(6, 40))
    onset = add_days(stopped, -dice.between(0, 6))
    started = add_days(
        onset, -dice.pick((dice.between(2, 20), dice.between(21, 120), dice.between(121, 700)))
    )
    return Report(
        patient(dice, cast, onset, 24, 89), started, onset, stopped, ended, received,
        dice.pick(_OUTCOMES), dice.chance(0.6),
    )  # fmt: skip


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one set of narratives."""
    voice, draft = author(dice, "medicine", "narratives", "names", "history", "narratives", "bedside")
    cast = Cast(voice)
    drug = dice.pick(for_long_use())
    start = date(dice.between(2008, 2022), dice.pick((1, 4, 7, 10)), 1)
    end = add_days(start, 364)
    sponsor = cast.new("{firm_stem} [Therapeutics|Pharma|Biosciences|Laboratories] [Limited|plc]")
    steroid = drugs()["corticosteroid"]
    counts: dict[str, Fact] = {name: pointer(name) for name in ("case_total", "fatal", "related")}
    voice = voice.knowing(
        {
            **counts,
            "sponsor": sponsor,
            "drug": drug.name,
            "drug_class": drug.drug_class,
            "indication": drug.indication,
            "period_start": long_date(start),
            "period_end": long_date(end),
            "rsi_date": long_date(add_days(start, -dice.between(30, 300))),
            "exposure": f"{dice.between(9_000, 480_000, 100):,}",
            "trial_code": f"{drug.name[:3].upper()}-{dice.between(11, 98)}",
            "steroid": steroid.name,
            "steroid_dose": steroid.doses[-1],
        }
    )
    interval = f"{long_date(start)} to {long_date(end)}"
    title = f"{drug.name.capitalize()}: narratives of serious adverse events, {interval}"
    draft.add(f"{title}\n\n{sponsor}, Drug Safety\n\nConfidential")
    draft.open_section("pv_intro", "{n}. INTRODUCTION")
    for index in range(voice.size("pv_intro")):
        draft.numbered(partial(voice.nth, "pv_intro", index))
    draft.open_section("narratives", "{n}. NARRATIVES")
    events = [
        voice.knowing({"possessive": "", "subject": ""}).nth("pv_event", index).partition("|")[0]
        for index in range(voice.size("pv_event"))
    ]
    listed = dice.take(events, 9)
    reports: list[Report] = []
    number = dice.between(10_000, 70_000)
    day = 0.0
    while draft.size < min_characters or len(reports) < 5:
        day = min(day + dice.uniform(0.5, 6), 360)
        report = _report(dice, cast, add_days(start, int(day)))
        reports.append(report)
        number += dice.between(1, 240)
        _narrative(draft, voice, report, drug, number, listed)
    fatal = sum(report.outcome == "fatal" for report in reports)
    draft.name("case_total", in_words(len(reports)).capitalize())
    draft.name("fatal", in_words(fatal) if fatal else "none")
    draft.name("related", in_words(sum(report.related for report in reports)))
    draft.open_section("summary", "{n}. SUMMARY TABULATION")
    rows = [
        f"{name} | {sum(report.outcome == name for report in reports)}" for name in dict.fromkeys(_OUTCOMES)
    ]
    draft.add("\n".join(["Outcome | Cases", *rows, f"total | {len(reports)}"]))
    return title, draft.text()


def _narrative(
    draft: Draft, voice: Voice, report: Report, drug: Drug, number: int, listed: Sequence[str]
) -> None:
    dice = voice.dice
    first, second = dice.take(others(drug), 2)
    event, event_text, remedy, finding = voice.knowing(report.patient.facts).say("pv_event").split("|")
    age = report.patient.age(report.onset)
    source = voice.say("pv_source")
    known = voice.knowing(
        {
            **report.patient.facts,
            "subject_cap": report.patient.person.subject.capitalize(),
            "age": str(age),
            "height": str(report.patient.height_cm),
            "weight": f"{report.patient.weight_kg:.0f}",
            "source": source,
            "dose": f"{dice.pick(drug.doses)} {drug.frequency}",
            "start_date": short_date(report.started),
            "onset_date": short_date(report.onset),
            "stop_date": short_date(report.stopped),
            "end_date": short_date(report.ended),
            "receipt_date": short_date(report.received),
            "query_date": short_date(add_days(report.received, dice.between(2, 15))),
            "latency": str(report.latency_days),
            "event_text": event_text,
            "remedy": remedy,
            "finding": finding,
            "event_lower": event[0].lower() + event[1:],
            "other_a": first.name,
            "other_b": second.name,
            "dechallenge": "positive" if report.outcome in ("recovered", "recovering") else "not assessable",
            "speak": "support" if report.related else "do not by themselves support",
            "verdict": "related" if report.related else "not related",
            "reporter_view": "related" if report.related else "unknown",
            "listed": "listed" if event in listed else "not listed",
        }
    )
    draft.add(
        f"Case {number}    {event}    received {short_date(report.received)}    outcome: {report.outcome}"
    )
    draft.paragraph(lambda: f"{known.say('pv_open')} {known.say('pv_history')}")
    draft.paragraph(lambda: f"{known.say('pv_event_text')} {known.say('pv_work')} {known.say('bedside')}")
    draft.paragraph(lambda: f"{known.say('pv_action')} {known.say(f'outcome_{report.outcome}')}")
    draft.paragraph(lambda: known.say("pv_comment"))
