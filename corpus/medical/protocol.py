"""The protocol of a randomised trial, with a sample size that follows from its assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.medical.drugs import drugs
from corpus.numerals import MONTHS, add_days, letter, long_date
from corpus.people import Cast
from corpus.voice import Fact, Voice

# After every question and every visit that is told of.
_ANNOTATED_DAYS = 900
_SECTIONS = (
    ("intro", "Background and rationale"),
    ("objectives", "Objectives and endpoints"),
    ("design", "Design"),
    ("inclusion", "Criteria for inclusion"),
    ("exclusion", "Criteria for exclusion"),
    ("treatment", "Treatment"),
    ("stopping", "Interruption and stopping"),
    ("safety", "Safety"),
    ("statistics", "Statistics"),
    ("ethics", "Ethics, data and publication"),
)
_Z_BETA = {80: 0.8416, 85: 1.0364, 90: 1.2816}
_Z_ALPHA = {"0.05": 1.9600, "0.025": 2.2414}
_MECHANISMS = (
    "selective inhibitor of a cytosolic kinase",
    "partial agonist at a nuclear receptor",
    "small-molecule antagonist of a chemokine receptor",
    "reversible inhibitor of a membrane transporter",
    "humanised antibody fragment against an interleukin",
    "positive modulator of a chloride channel",
)


@dataclass(frozen=True, slots=True)
class Trial:
    """The design. Proportions and rates in per cent, doses in mg, sizes in participants a group."""

    code: str
    p_active: int
    p_placebo: int
    power: int
    alpha: str
    dropout: int
    dose_low: int
    dose_high: int
    weeks: int

    @property
    def per_group(self) -> int:
        """Size of a group by the normal approximation for two proportions, raised for drop-out."""
        active, placebo = self.p_active / 100, self.p_placebo / 100
        spread = active * (1 - active) + placebo * (1 - placebo)
        z = _Z_ALPHA[self.alpha] + _Z_BETA[self.power]
        needed = math.ceil(z * z * spread / (active - placebo) ** 2)
        return math.ceil(needed * 100 / (100 - self.dropout))

    @property
    def visit_weeks(self) -> tuple[int, ...]:
        """Weeks of the visits under treatment: close together at first, then every four weeks."""
        return (0, 1, 2, *range(4, self.weeks + 1, 4 if self.weeks < 60 else 8))


def _trial(dice: Dice, timepoint: str) -> Trial:
    placebo = dice.between(12, 48)
    low = dice.pick((5, 10, 15, 25, 50))
    primary = int(timepoint.split()[1])
    return Trial(
        code=f"{dice.pick('BDGHKLMNRTVX')}{dice.pick('AEIOU')}{dice.pick('BDGK')}-{dice.between(1013, 9871)}",
        p_active=placebo + dice.between(10, 22),
        p_placebo=placebo,
        power=dice.pick((80, 85, 90)),
        alpha=dice.pick(("0.05", "0.025")),
        dropout=dice.pick((8, 10, 12, 15)),
        dose_low=low,
        dose_high=low * dice.pick((2, 3)),
        weeks=primary + dice.pick((0, 8, 12)) // 4 * 4,
    )


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one trial protocol."""
    voice, draft = author(dice, "medicine", "protocol", "names", "protocol")
    cast = Cast(voice)
    condition, endpoint, timepoint, _ = voice.say("trial_field").split("|")
    trial = _trial(dice, timepoint)
    started = add_days(date(2009, 3, 2), dice.between(0, 4800))
    table = drugs()
    rescue = table[dice.pick(("corticosteroid", "short-acting bronchodilator", "opioid analgesic"))]
    sponsor = cast.new("{firm_stem} [Therapeutics|Pharma|Biosciences|Laboratories] [Limited|plc]")
    filtration = dice.between(45, 60, 5)
    facts: dict[str, Fact] = {
        "condition": condition,
        "endpoint": endpoint,
        "timepoint": timepoint,
        "code": trial.code,
        "mechanism": dice.pick(_MECHANISMS),
        "country": voice.fill("{country}"),
        "vendor": cast.new("{firm_stem} [Clinical Supplies|Trial Services|Research Logistics] Limited"),
        "lab_marker": dice.pick(("alanine aminotransferase", "creatine kinase", "lipase")),
        "lab_lower": partial(
            dice.pick, ("liver enzyme", "potassium", "haematology", "lipid", "trough", "urate")
        ),
        "dose_low": str(trial.dose_low),
        "dose_high": str(trial.dose_high),
        "max_dose": str(trial.dose_high * 4),
        "n_arm": str(trial.per_group),
        "n_total": str(trial.per_group * 3),
        "power": str(trial.power),
        "alpha": trial.alpha,
        "p_active": str(trial.p_active),
        "p_placebo": str(trial.p_placebo),
        "dropout": str(trial.dropout),
        "age_min": str(dice.pick((18, 21, 40))),
        "age_max": str(dice.pick((65, 70, 75, 80))),
        "last_week": f"week {trial.weeks}",
        "start_month": f"{MONTHS[started.month - 1]} {started.year}",
        "rescue_drug": rescue.name,
        "rescue_dose": rescue.doses[-1],
        "antibiotic": table["aminopenicillin"].name,
        "other_drug": lambda: (
            table[dice.pick(("statin", "beta-blocker", "thyroid hormone", "ACE inhibitor"))].name
        ),
        "any_week": lambda: str(dice.between(2, trial.weeks)),
        "visit_week": lambda: str(dice.pick(trial.visit_weeks[3:])),
        "filtration": str(filtration),
        "filtration_below": lambda: str(filtration - dice.between(1, 9)),
        "filtration_above": lambda: str(filtration + dice.between(1, 14)),
        "qa_date": lambda: long_date(add_days(started, dice.between(40, 700))),
    }
    voice = voice.knowing(facts)
    annotated = long_date(add_days(started, _ANNOTATED_DAYS))
    dated = long_date(add_days(started, -dice.between(60, 200)))
    title = f"{trial.code} in {condition}: protocol {trial.code}-{dice.between(201, 399)}"
    draft.add(
        f"CLINICAL TRIAL PROTOCOL\n\n{title}\n\nA randomised, double-blind, placebo-controlled trial\n\n"
        f"Sponsor: {sponsor}\nVersion {dice.between(2, 6)}.0, {dated}\n"
        f"Annotated on {annotated} with questions from sites and reports of monitoring visits\n"
        f"Medical monitor: Dr {cast.person().name}\nStatistician: {cast.person().name}"
    )
    for topic, heading in _SECTIONS:
        draft.open_section(topic, f"{{n}}. {heading.upper()}")
        for index in range(voice.size(f"p_{topic}")):
            if index == 0 or dice.chance(0.93):
                draft.numbered(partial(voice.nth, f"p_{topic}", index))
    _visits(draft, voice, trial)
    _management(draft, voice)
    _questions(draft, voice)
    _monitoring(draft, voice, cast, trial, started, min_characters)
    return title, draft.text()


def _visits(draft: Draft, voice: Voice, trial: Trial) -> None:
    draft.open_section("visits", "{n}. SCHEDULE OF VISITS")
    for number, week in enumerate(trial.visit_weeks, 2):
        chosen = voice.dice.take(range(voice.size("procedure")), voice.dice.between(5, 9))
        procedures = [voice.nth("procedure", index) for index in chosen]
        listed = "; ".join(f"({letter(place)}) {text}" for place, text in enumerate(procedures))
        window = 0 if week == 0 else 2 if week < 4 else 4
        draft.numbered(
            partial("Visit {}, week {} (day {} ± {}): {}.".format, number, week, week * 7 + 1, window, listed)
        )


def _management(draft: Draft, voice: Voice) -> None:
    draft.open_section("management", "{n}. MANAGEMENT OF EVENTS OF SPECIAL INTEREST")
    for index in range(voice.size("event_aesi")):
        event = voice.nth("event_aesi", index)
        for grade in (2, 3, 4):
            draft.numbered(partial(_measure, voice, event, grade))


def _measure(voice: Voice, event: str, grade: int) -> str:
    """What is done about an event of a grade."""
    return f"{event}, grade {grade}: {voice.say(f'grade_action_{grade}')}."


def _questions(draft: Draft, voice: Voice) -> None:
    draft.open_section("questions", "{n}. QUESTIONS FROM SITES AND ANSWERS OF THE SPONSOR")
    for _ in range(2 * voice.size("qa_q")):
        draft.numbered(partial(_question, voice))


def _question(voice: Voice) -> str:
    """A question with the answer that belongs to it."""
    index = voice.dice.deal("questions", voice.size("qa_q"))
    site = voice.dice.between(101, 190)
    return f"Site {site}. {voice.nth('qa_q', index)} {voice.nth('qa_a', index)}"


def _monitoring(
    draft: Draft, voice: Voice, cast: Cast, trial: Trial, started: date, min_characters: int
) -> None:
    dice = voice.dice
    draft.open_section("monitoring", "{n}. SUMMARIES OF MONITORING VISITS")
    monitors = [cast.person().title for _ in range(5)]
    site = 100
    while site == 100 or draft.size < min_characters:
        site += 1
        day = add_days(started, dice.between(90, 800))
        known = voice.knowing(
            {
                "monitor": dice.pick(monitors),
                "pi": f"Dr {voice.fill('{surname}')}",
                "mv_date": long_date(day),
                "qa_date": partial(_day_before, dice, day),
                "later": long_date(add_days(day, dice.between(14, 70))),
                "enrolled": str(dice.between(3, 24)),
                "subject_no": partial(_participant, dice, site),
            }
        )
        head = f"Site {site}, {voice.fill('{place}')}"
        draft.numbered(partial(_joined, known, head, "mv_open"))
        for place in range(dice.between(3, 6)):
            draft.paragraph(partial(known.say, "mv_finding"), f"({letter(place)}) ")
        draft.paragraph(partial(known.say, "mv_action"))


def _day_before(dice: Dice, day: date) -> str:
    """A day that a visit can look back upon."""
    return long_date(add_days(day, -dice.between(5, 85)))


def _participant(dice: Dice, site: int) -> str:
    return f"{site}-{dice.between(1, 40):03d}"


def _joined(voice: Voice, head: str, rule: str) -> str:
    return f"{head}. {voice.say(rule)}"
