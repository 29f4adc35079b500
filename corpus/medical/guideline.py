"""A clinical guideline: questions, trials whose relative risks follow from their counts, recommendations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.medical.drugs import drugs
from corpus.numerals import add_days, long_date
from corpus.people import Cast
from corpus.voice import Fact, Voice

_ORDER = ("very low", "low", "moderate", "high")


@dataclass(frozen=True, slots=True)
class Study:
    """Events and sizes of the two groups of a trial."""

    events: int
    size: int
    control_events: int
    control_size: int

    @property
    def relative_risk(self) -> float:
        """Risk under the intervention over risk under the comparison."""
        return (self.events / self.size) / (self.control_events / self.control_size)

    @property
    def interval(self) -> tuple[float, float]:
        """95 per cent interval of the relative risk, by the logarithm's standard error."""
        error = math.sqrt(1 / self.events - 1 / self.size + 1 / self.control_events - 1 / self.control_size)
        return self.relative_risk * math.exp(-1.96 * error), self.relative_risk * math.exp(1.96 * error)


def pooled(studies: list[Study]) -> Study:
    """The studies as if they were one, as a first look at the whole."""
    return Study(
        sum(study.events for study in studies),
        sum(study.size for study in studies),
        sum(study.control_events for study in studies),
        sum(study.control_size for study in studies),
    )


def _study(dice: Dice) -> Study:
    size, control = dice.between(38, 640), 0
    control = size + dice.between(-6, 6)
    risk = dice.uniform(0.12, 0.5)
    return Study(
        max(3, round(size * risk * dice.uniform(0.55, 1.15))), size, max(3, round(control * risk)), control
    )


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one guideline."""
    voice, draft = author(dice, "medicine", "guideline", "names", "guideline")
    cast = Cast(voice)
    topic, short, population, outcome, key = voice.say("g_topic").split("|")
    published = add_days(date(2010, 2, 1), dice.between(0, 4900))
    table = drugs()
    first, second = dice.take([name for name in table if "by mouth" in table[name].route], 2)
    voice = voice.knowing(
        {
            "population": population,
            "outcome": outcome,
            "outcome_cap": outcome[:1].upper() + outcome[1:],
            "steroid": table["corticosteroid"].name,
            "drug_a": table[first].name,
            "drug_b": table[second].name,
            "study_limit": str(published.year - dice.between(8, 15)),
            "chair": f"Professor {cast.person().name}",
            "old_year": str(published.year - dice.between(4, 9)),
            "review_year": str(published.year + dice.between(3, 6)),
            "search_date": long_date(add_days(published, -dice.between(200, 420))),
            "cost": partial(_cost, dice),
        }
    )
    college = voice.fill("College of Physicians of {country}")
    title = f"Management of {topic}: guideline of the {college}, {published.year}"
    draft.add(f"{title}\n\nPublished {long_date(published)}\n\nShort title: {short}, {published.year}")
    draft.open_section("intro", "{n}. SCOPE AND METHODS")
    for index in range(voice.size("g_intro")):
        draft.numbered(partial(voice.nth, "g_intro", index))
    draft.open_section("implement", "{n}. IMPLEMENTATION")
    for index in range(voice.size("g_implement")):
        draft.numbered(partial(voice.nth, "g_implement", index))
    while draft.size < min_characters:
        _question(draft, voice, key, published)
    return title, draft.text()


def _cost(dice: Dice) -> str:
    return f"{dice.between(18, 940)} euros"


def _question(draft: Draft, voice: Voice, key: str, published: date) -> None:
    dice = voice.dice
    known = voice.knowing(_subject(voice, key, draft.section - 2))
    draft.open_section(f"question {draft.section}", f"QUESTION {draft.section - 1} (section {{n}})")
    draft.numbered(partial(known.say, "g_question"))
    studies = [_study(dice) for _ in range(dice.between(2, 4))]
    for study in studies:
        year = published.year - dice.between(2, 19)
        draft.numbered(partial(known.knowing(_study_facts(study, voice, year)).say, "g_study"))
    whole = pooled(studies)
    low, high = whole.interval
    certainty = voice.say("certainty")
    rating = "g_certainty_high" if certainty == "high" else "g_certainty"
    draft.numbered(
        lambda: (
            f"Taken together the {len(studies)} trials have {whole.events + whole.control_events:,} events "
            f"in {whole.size + whole.control_size:,} people, a relative risk of {whole.relative_risk:.2f} "
            f"({low:.2f} to {high:.2f}). {known.knowing({'certainty': certainty}).say(rating)}"
        )
    )
    for _ in range(dice.between(1, 3)):
        draft.numbered(partial(known.say, "g_discuss"))
    helps = high < 1
    strength = "strong" if helps and certainty in _ORDER[2:] else "conditional"
    advice = "g_rec_for" if helps or whole.relative_risk < 0.9 else "g_rec_against"
    draft.numbered(lambda: f"Recommendation ({strength}, {certainty} certainty): {known.say(advice)}")


def _subject(voice: Voice, key: str, number: int) -> dict[str, Fact]:
    """What a question is about: each intervention for all patients first, then for single groups."""
    own, common = voice.size(f"intervention_{key}"), voice.size("intervention_common")
    count = own + common
    group = ""
    if number < count:
        index = voice.dice.deal("intervention", count)
    else:
        groups = voice.size("subgroup")
        index, place = divmod(voice.dice.deal("intervention and group", count * groups), groups)
        group = f" {voice.nth('subgroup', place)}"
    rule, place = (f"intervention_{key}", index) if index < own else ("intervention_common", index - own)
    return {
        "intervention": voice.nth(rule, place),
        "comparator": voice.say("comparator"),
        "group": group,
    }


def _study_facts(study: Study, voice: Voice, year: int) -> dict[str, Fact]:
    low, high = study.interval
    return {
        "trial_name": voice.fill("{surname_head}{surname_tail} {given_f}")[:4].upper()
        + "-"
        + str(year % 89 + 1),
        "study_year": str(year),
        "n_total": str(study.size + study.control_size),
        "a_events": str(study.events),
        "a_n": str(study.size),
        "b_events": str(study.control_events),
        "b_n": str(study.control_size),
        "rr": f"{study.relative_risk:.2f}",
        "lo": f"{low:.2f}",
        "hi": f"{high:.2f}",
    }
