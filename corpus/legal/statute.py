"""An Act that licenses an activity, with its schedules of areas, fees and amendments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.legal.jurisdiction import jurisdiction
from corpus.numerals import add_days, long_date, roman
from corpus.people import Cast
from corpus.voice import Voice

_PARTS = (
    ("Preliminary", (("prelim", "Interpretation and application"), ("body_rules", "The {body}"))),
    (
        "Licences",
        (
            ("licence_need", "Requirement of a licence"),
            ("application", "Applications"),
            ("condition_rules", "Conditions"),
            ("revoke", "Suspension and revocation"),
        ),
    ),
    (
        "Enforcement",
        (
            ("inspectors", "Inspectors and entry"),
            ("notices", "Improvement and prohibition notices"),
            ("offences", "Offences"),
            ("penalties", "Civil penalties"),
            ("appeals", "Appeals"),
        ),
    ),
    ("General", (("fees", "Fees"), ("regs", "Regulations"), ("final", "Citation, commencement and extent"))),
)


@dataclass(frozen=True, slots=True)
class Act:
    """The facts of an Act: what it is about, in the words that its sections need."""

    title: str
    thing: str
    things: str
    activity: str
    body: str
    passed: date
    chapter: int


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one statute."""
    voice, draft = author(dice, "law", "statute", "names", "law", "statute")
    cast = Cast(voice)
    voice = voice.knowing(jurisdiction(voice, cast))
    subject, thing, things, activity = voice.say("act_subject").split("|")
    act = Act(
        subject, thing, things, activity, voice.say("body"),
        add_days(date(1958, 3, 1), dice.between(0, 22000)), dice.between(3, 78),
    )  # fmt: skip
    commence = add_days(act.passed, dice.between(90, 400))
    voice = voice.knowing(
        {
            "subject_title": act.title,
            "thing": act.thing,
            "things": act.things,
            "activity": act.activity,
            "body": act.body,
            "year": str(act.passed.year),
            "year_day": dice.pick(("30 June", "31 July", "30 September")),
            "commence": long_date(commence),
        }
    )
    country = voice.fill("{country}")
    draft.add(
        f"{act.title.upper()} ACT {act.passed.year}\n\n{act.passed.year} Chapter {act.chapter}\n\n"
        f"An Act to provide for the licensing of those who {act.activity}; to establish the {act.title} "
        f"{act.body}; to confer powers of inspection; and for connected purposes.\n\n"
        f"[{long_date(act.passed)}]"
    )
    draft.add(f"BE IT ENACTED by the legislature of {country} as follows:")
    for number, (part, parts) in enumerate(_PARTS, 1):
        draft.add(f"PART {roman(number)}\n{part.upper()}")
        for topic, title in parts:
            draft.open_section(topic, f"{{n}} {title.format(body=act.body)}")
            for index in range(voice.size(topic)):
                if index == 0 or dice.chance(0.92):
                    draft.subsection(partial(voice.nth, topic, index))
    _schedules(draft, voice, dice, min_characters)
    return f"{act.title} Act {act.passed.year} (c. {act.chapter})", draft.text()


def _schedules(draft: Draft, voice: Voice, dice: Dice, min_characters: int) -> None:
    draft.add("SCHEDULE 1\nDESIGNATED AREAS")
    areas = 4 + max(0, min_characters - draft.size) // 1600
    for number in range(1, areas + 1):
        draft.paragraph(partial(voice.say, "area"), f"{number} ")
    draft.add("SCHEDULE 2\nPARTICULARS TO ACCOMPANY AN APPLICATION")
    draft.paragraph(partial(voice.say, "particulars"))
    draft.add("SCHEDULE 3\nFEES")
    draft.add(
        "\n".join(
            voice.fill(f"{label} | {{money_small}}")
            for label in (
                "Application",
                "Renewal",
                "Variation",
                "Transfer",
                "Certified copy",
                "Inspection on request",
            )
        )
    )
    draft.add("SCHEDULE 4\nTRANSITIONAL PROVISIONS")
    for index in range(voice.size("transitional")):
        draft.paragraph(partial(voice.nth, "transitional", index), f"{index + 1} ")
    draft.add("SCHEDULE 5\nAMENDMENTS AND REPEALS")
    number = 0
    while draft.size < min_characters:
        number += 1
        draft.paragraph(partial(voice.say, "amendment"), f"{number} ")
