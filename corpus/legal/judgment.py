"""A judgment in a building dispute that decides a schedule of defects item by item."""

from __future__ import annotations

from collections.abc import Mapping
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

_CONTRACTOR = "{firm_stem} [Construction|Builders|Contracting|Building Services] {firm_suffix}"
_TRADES = ("envelope", "floor", "services", "fittings")


@dataclass(frozen=True, slots=True)
class Dispute:
    """The facts of a case. The order of its dates is the order of the fields."""

    claimant: str
    defendant: str
    judge: Person
    experts: tuple[Person, Person]
    contract: date
    completion: date
    practical: date
    complaint: date
    letter: date
    issue: date
    schedule: date
    handed_down: date


def _dispute(dice: Dice, cast: Cast) -> Dispute:
    contract = add_days(date(1996, 1, 8), dice.between(0, 7600))
    completion = add_days(contract, 7 * dice.between(40, 90))
    practical = add_days(completion, 7 * dice.between(4, 30))
    complaint = add_days(practical, dice.between(20, 300))
    letter = add_days(complaint, dice.between(200, 600))
    issue = add_days(letter, dice.between(60, 260))
    schedule = add_days(issue, dice.between(250, 420))
    return Dispute(
        cast.firm(), cast.new(_CONTRACTOR), cast.person(), (cast.person(), cast.person()),
        contract, completion, practical, complaint, letter, issue, schedule,
        add_days(schedule, dice.between(60, 160)),
    )  # fmt: skip


def _facts(dice: Dice, cast: Cast, case: Dispute, sign: str) -> dict[str, Fact]:
    a, b = case.experts
    clauses = dice.take(range(2, 40), 5)
    facts: dict[str, Fact] = {
        name: f"{number}.{dice.between(1, 7)}"
        for name, number in zip(
            ("c_quality", "c_design", "c_notice", "c_defects", "c_records"), sorted(clauses), strict=True
        )
    }
    for letter in "abcde":
        year = case.handed_down.year - dice.between(4, 60)
        loser = f"{cast.new('{firm_stem}')} {dice.pick(('Ltd', 'plc', 'Builders', 'Estates'))}"
        report = f"{dice.between(1, 4)} {dice.pick(('CLR', 'BCR', 'TCL'))} {dice.between(11, 940)}"
        facts[f"case_{letter}"] = f"{cast.person().surname} v {loser} [{year}] {report}"
    days = {
        "contract_date": case.contract, "completion_date": case.completion, "practical_date": case.practical,
        "complaint_date": case.complaint, "letter_date": case.letter, "issue_date": case.issue,
        "schedule_date": case.schedule,
    }  # fmt: skip
    return {
        **facts,
        **{name: long_date(day) for name, day in days.items()},
        "winters": _winters(case.schedule.year - case.practical.year),
        "delay_weeks": in_words((case.practical - case.completion).days // 7),
        "claimant": case.claimant,
        "defendant": case.defendant,
        "expert_a": a.title, "expert_b": b.title,
        "a_pos": a.possessive, "b_pos": b.possessive, "b_subj": b.subject,
        "a_judge": f"{cast.person().surname} J",
        "administrator": cast.person(woman=False).title,
        "site": cast.place(),
        "package": dice.pick(("cladding and roofing", "mechanical and drainage", "façade and glazing")),
        "contract_sum": f"{sign}{grouped(dice.between(3_200_000, 28_000_000, 12_500))}",
        "ld_rate": f"{sign}{grouped(dice.between(4_500, 28_000, 500))}",
        "counterclaim": f"{sign}{grouped(dice.between(210_000, 640_000, 250))}",
        "counterclaim_allowed": f"{sign}{grouped(dice.between(12_000, 190_000, 250))}",
        "claimed_total": pointer("claimed_total"),
        "allowed_total": pointer("allowed_total"),
    }  # fmt: skip


def _winters(count: int) -> str:
    return f"{in_words(count)} winter{'' if count == 1 else 's'}"


class Paragraphs:
    """Numbers the paragraphs of a judgment through, as ``[14]``."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self.count = 0

    def add(self, voice: Voice, *templates: str) -> None:
        """One paragraph made of these rules."""
        self.count += 1
        self._draft.paragraph(lambda: " ".join(voice.say(name) for name in templates), f"[{self.count}] ")

    def add_nth(self, voice: Voice, rule: str, index: int) -> None:
        """One paragraph made of one alternative of a rule."""
        self.count += 1
        self._draft.paragraph(partial(voice.nth, rule, index), f"[{self.count}] ")


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one judgment."""
    voice, draft = author(dice, "law", "judgment", "names", "law", "judgment")
    cast = Cast(voice)
    places = jurisdiction(voice, cast)
    sign = str(places["sign"])
    case = _dispute(dice, cast)
    long_project, project = voice.say("project").split("|")
    facts = _facts(dice, cast, case, sign)
    voice = voice.knowing({**places, **facts, "project_long": long_project, "project": project})
    citation = f"[{case.handed_down.year}] {dice.pick(('HC', 'TCC', 'SC', 'CC'))} {dice.between(41, 3980)}"
    counsel = [cast.person().name for _ in range(3)]
    draft.add(
        f"{str(places['court']).upper()}\n\nNeutral citation: {citation}\n\n"
        f"Judgment handed down on {long_date(case.handed_down)}\n\nBefore {case.judge.surname.upper()} J\n\n"
        f"Between\n\n{case.claimant} (Claimant)\n\nand\n\n{case.defendant} (Defendant)\n\n"
        f"{counsel[0]} and {counsel[1]} for the claimant; {counsel[2]} for the defendant"
    )
    paragraphs = Paragraphs(draft)
    for heading, rule in (("Introduction", "j_intro"), ("The contract and the works", "j_contract")):
        draft.add(heading)
        for index in range(voice.size(rule)):
            paragraphs.add_nth(voice, rule, index)
    witnesses = _witnesses(draft, paragraphs, voice, cast, case)
    for heading, rule in (("The experts", "j_expert"), ("The law", "j_law")):
        draft.add(heading)
        for index in range(voice.size(rule)):
            paragraphs.add_nth(voice, rule, index)
    claimed, allowed = _items(draft, paragraphs, voice, case, sign, witnesses, min_characters)
    draft.name("claimed_total", f"{sign}{grouped(claimed)}")
    draft.name("allowed_total", f"{sign}{grouped(allowed)}")
    draft.add("Conclusion")
    for index in range(voice.size("j_end")):
        paragraphs.add_nth(voice, "j_end", index)
    return f"{case.claimant} v {case.defendant} {citation}", draft.text()


def _witnesses(draft: Draft, paragraphs: Paragraphs, voice: Voice, cast: Cast, case: Dispute) -> list[Person]:
    dice = voice.dice
    draft.add("The witnesses of fact")
    people = [cast.person() for _ in range(dice.between(4, 5))]
    for number, person in enumerate(people):
        employer = number < len(people) // 2
        known: Mapping[str, Fact] = {
            "witness": person.title,
            "subj": person.subject,
            "pos": person.possessive,
            "obj": "her" if person.woman else "him",
            "side_party": case.claimant if employer else case.defendant,
            "side_role": partial(voice.say, "employer_role" if employer else "contractor_role"),
            "witness_date": long_date(add_days(case.completion, -dice.between(20, 250))),
        }
        paragraphs.add_nth(voice.knowing(known), "j_witness", number)
    return people


def _items(
    draft: Draft,
    paragraphs: Paragraphs,
    voice: Voice,
    case: Dispute,
    sign: str,
    witnesses: list[Person],
    min_characters: int,
) -> tuple[int, int]:
    """Decide items until the judgment is long enough; the sums claimed and allowed."""
    dice = voice.dice
    draft.add("The items in the schedule")
    claimed = allowed = number = 0
    while draft.size < min_characters or number < 12:
        number += 1
        sum_claimed = dice.between(2_400, 148_000, 50)
        outcome = dice.pick(("all", "all", "part", "part", "part", "none"))
        share = {"all": 1.0, "part": dice.uniform(0.2, 0.8), "none": 0.0}[outcome]
        sum_allowed = sum_claimed if outcome == "all" else round(sum_claimed * share / 50) * 50
        trade = dice.pick(_TRADES)
        claimed += sum_claimed
        allowed += sum_allowed
        known = voice.knowing(
            {
                "item_claimed": f"{sign}{grouped(sum_claimed)}",
                "item_allowed": f"{sign}{grouped(sum_allowed)}",
                # While the works went on, and after somebody had complained.
                "item_date": lambda: long_date(add_days(case.practical, -dice.between(15, 200))),
                "later_date": lambda: long_date(add_days(case.complaint, dice.between(10, 190))),
                "witness_b": dice.pick(witnesses).title,
                "defect_here": partial(voice.say, f"defect_{trade}"),
            }
        )
        draft.add(f"Item {number}: {known.say(f'item_element_{trade}')}")
        paragraphs.add(known, "item_claim", "item_defence")
        finding = "item_find_none" if outcome == "none" else "item_find"
        paragraphs.add(known, finding, f"item_allow_{outcome}")
    return claimed, allowed
