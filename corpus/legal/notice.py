"""A regulator's decision notice after an inspection: findings, a penalty worked out in steps, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.legal.jurisdiction import jurisdiction
from corpus.numerals import add_days, in_words, long_date
from corpus.people import Cast, Person, grouped
from corpus.voice import Fact, Voice, pointer

_AREAS = ("records", "plant", "materials", "hygiene")
_CLASSES = ("critical", "major", "major", "major", "other", "other")


@dataclass(frozen=True, slots=True)
class Penalty:
    """A penalty in whole units of the currency, each step worked out from the one before."""

    turnover: int
    level_per_cent: int
    aggravation_per_cent: int
    discount_per_cent: int

    @property
    def starting(self) -> int:
        """Step 2: a share of turnover."""
        return self.turnover * self.level_per_cent // 100

    @property
    def adjusted(self) -> int:
        """Step 3: with aggravating factors."""
        return self.starting * (100 + self.aggravation_per_cent) // 100

    @property
    def final(self) -> int:
        """Step 5: after the discount for settlement, rounded down to hundreds."""
        return self.adjusted * (100 - self.discount_per_cent) // 100 // 100 * 100


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one regulatory notice."""
    voice, draft = author(dice, "law", "notice", "names", "law", "notice")
    cast = Cast(voice)
    places = jurisdiction(voice, cast)
    sign = str(places["sign"])
    firm = cast.firm()
    penalty = Penalty(
        dice.between(4_000_000, 90_000_000, 20_000), dice.between(1, 4), dice.pick((0, 10, 15, 20, 25)), 30
    )
    inspected = add_days(date(2006, 5, 8), dice.between(0, 6000))
    decided = add_days(inspected, dice.between(260, 520))
    sections = sorted(dice.take(range(4, 90), 4))
    inspectors = [cast.person() for _ in range(3)]
    reference = f"{dice.pick('ABDEFGHKLM')}{dice.pick('NPRSTVW')}/{decided.year}/{dice.between(1000, 9899)}"
    voice = voice.knowing(places)
    facts: dict[str, Fact] = {
        "regulator": voice.say("regulator"),
        "firm": firm,
        "site": cast.address(),
        "reg_act": f"{dice.pick(('Authorised Undertakings', 'Product Safety', 'Licensed Processes'))} Act "
        f"{dice.between(1974, 2004)}",
        "penalty": f"{sign}{grouped(penalty.final)}",
        "before_discount": f"{sign}{grouped(penalty.adjusted)}",
        "discount": str(penalty.discount_per_cent),
        "turnover": f"{sign}{grouped(penalty.turnover)}",
        "insp_start": long_date(inspected),
        "insp_end": long_date(add_days(inspected, dice.between(2, 9))),
        "period_start": long_date(add_days(inspected, -dice.between(500, 1100))),
        "event_a": long_date(add_days(inspected, -dice.between(300, 480))),
        "event_b": long_date(add_days(inspected, -dice.between(60, 280))),
        "warning_date": long_date(add_days(inspected, dice.between(30, 70))),
        "reply_date": long_date(add_days(inspected, dice.between(90, 150))),
        "pay_date": long_date(add_days(decided, 28)),
        "publish_date": long_date(add_days(decided, dice.between(30, 45))),
        "auth": f"{dice.between(10, 99)}-{dice.between(1000, 9999)}",
        "auth_date": long_date(add_days(inspected, -dice.between(2500, 6000))),
        "officer": cast.person().title,
        "customer": cast.firm(),
        "expert_firm": cast.firm(),
        "contact": inspectors[0].name,
        "reference": reference,
        **{
            name: str(section)
            for name, section in zip(("s_duty", "s_records", "s_report", "s_penalty"), sections, strict=True)
        },
    }
    voice = voice.knowing(facts)
    draft.add(
        f"DECISION NOTICE {reference}\n\nTo: {firm}\nOf: {facts['site']}\nDate: {long_date(decided)}\n"
        f"Issued by: {facts['regulator']}"
    )
    for topic, title in (
        ("n_intro", "Decision"), ("n_definitions", "Definitions"), ("n_law", "Relevant provisions"),
        ("n_facts", "Facts and matters"),
    ):  # fmt: skip
        draft.open_section(topic, f"{{n}}. {title.upper()}")
        for index in range(voice.size(topic)):
            draft.numbered(partial(voice.nth, topic, index))
    _steps(draft, voice, penalty, sign)
    _findings(draft, voice, inspected, inspectors, sections[:3], min_characters)
    return f"Decision notice {reference}, {firm}", draft.text()


def _steps(draft: Draft, voice: Voice, penalty: Penalty, sign: str) -> None:
    known = voice.knowing(
        {
            "level": str(penalty.level_per_cent),
            "starting": f"{sign}{grouped(penalty.starting)}",
            "aggravation": str(penalty.aggravation_per_cent),
        }
    )
    draft.open_section("penalty", "{n}. PENALTY")
    for index in range(voice.size("n_penalty")):
        draft.numbered(partial(known.nth, "n_penalty", index))
    draft.open_section("steps", "{n}. STEPS TO BE TAKEN")
    for rule in ("n_steps", "n_rights"):
        for index in range(voice.size(rule)):
            draft.numbered(partial(voice.nth, rule, index))


def _findings(
    draft: Draft,
    voice: Voice,
    inspected: date,
    people: list[Person],
    sections: list[int],
    min_characters: int,
) -> None:
    dice = voice.dice
    counts = {"critical": 0, "major": 0, "other": 0}
    draft.open_section("findings", "{n}. ANNEX: FINDINGS OF THE INSPECTION")
    counted = {f"{name}_count": pointer(name) for name in counts}
    draft.paragraph(partial(voice.knowing(counted).say, "n_annex"))
    while draft.size < min_characters or sum(counts.values()) < 9:
        fclass = dice.pick(_CLASSES)
        counts[fclass] += 1
        area = dice.pick(_AREAS)
        known = voice.knowing(
            {
                "fclass": fclass,
                "fsection": str(dice.pick(sections)),
                "person_a": dice.pick(people).title,
                "proc": f"{dice.pick('QPEHML')}{dice.pick('ACDS')}-{dice.between(101, 989)}",
                "find_date": long_date(add_days(inspected, -dice.between(0, 400))),
                "find_old": long_date(add_days(inspected, -dice.between(410, 800))),
                "fix_date": long_date(add_days(inspected, dice.between(160, 250))),
            }
        )
        draft.clause += 1
        known = known.knowing(
            {
                "fault_here": partial(known.say, f"fault_{area}"),
                "requirement_here": partial(known.say, f"requirement_{area}"),
            }
        )
        draft.add(f"Finding {draft.section}.{draft.clause}: {known.say(f'fn_area_{area}')}")
        draft.paragraph(partial(known.fill, "{fn_observe} {fn_assess}"))
        draft.paragraph(partial(known.say, "fn_response"))
    for name, count in counts.items():
        draft.name(name, in_words(count) if count else "no")
