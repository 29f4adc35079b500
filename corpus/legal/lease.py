"""A lease of business premises, with its schedule of condition."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.legal.contract import definitions, sections
from corpus.legal.jurisdiction import jurisdiction
from corpus.numerals import add_days, add_years, in_words, long_date
from corpus.people import Cast, grouped
from corpus.voice import Fact, Voice

_CORE = ("grant", "rent", "review", "repair", "insurance", "use", "alter", "assign", "service", "yield")
_TITLES = {
    "grant": ("Demise and rights", "Letting and rights", "Grant"),
    "rent": ("Rents and payment", "Rents", "Payment of the Rents"),
    "review": ("Rent review", "Review of the Principal Rent"),
    "repair": ("Repair and decoration", "Repair, decoration and maintenance"),
    "insurance": ("Insurance and damage", "Insurance, suspension and reinstatement"),
    "use": ("Use of the Premises", "User and conduct"),
    "alter": ("Alterations and signs", "Alterations"),
    "assign": ("Dealings", "Assignment and underletting", "Alienation"),
    "service": ("Services and Service Charge", "Service Charge"),
    "yield": ("Yielding up", "End of the Term"),
    "break": ("Tenant's right to determine", "Break"),
    "guarantor": ("Guarantee", "The Guarantor's covenants"),
    "forfeit": ("Re-entry", "Forfeiture"),
    "boiler": ("General", "Miscellaneous", "Interpretation and notices"),
}


@dataclass(frozen=True, slots=True)
class Lease:
    """The facts of a lease. Rents in whole units of the currency, areas in square metres."""

    start: date
    years: int
    rent: int
    rent_free_months: int
    area: int
    landlord: str
    tenant: str
    guarantor: str | None
    premises: str
    use: str
    review_every: int
    has_break: bool

    @property
    def end(self) -> date:
        """The last day of the term."""
        return add_days(add_years(self.start, self.years), -1)

    @property
    def reviews(self) -> tuple[date, ...]:
        """The days on which the rent is reviewed, all of them within the term."""
        return tuple(
            add_years(self.start, year) for year in range(self.review_every, self.years, self.review_every)
        )


def _facts(dice: Dice, cast: Cast, voice: Voice) -> Lease:
    area = dice.between(85, 2400, 5)
    years = dice.pick((6, 10, 12, 15, 20, 25))
    kind, use = voice.say("premises_type").split("|")
    return Lease(
        start=date(dice.between(2003, 2023), dice.between(1, 12), dice.pick((1, 24, 25, 28))),
        years=years,
        rent=round(area * dice.uniform(70, 310) / 250) * 250,
        rent_free_months=dice.between(2, 9),
        area=area,
        landlord=cast.firm(),
        tenant=cast.firm(),
        guarantor=cast.firm() if dice.chance(0.6) else None,
        premises=f"the {kind} known as {cast.address()}",
        use=use,
        review_every=dice.pick((3, 4, 5)),
        has_break=dice.chance(0.6),
    )


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one lease."""
    voice, draft = author(dice, "law", "lease", "names", "law", "lease")
    cast = Cast(voice)
    places = jurisdiction(voice, cast)
    voice = voice.knowing(places)
    lease = _facts(dice, cast, voice)
    reference = f"{dice.pick('ABCDEFHKLNPRST')}{dice.pick('CDFGHKLMNPT')}{dice.between(100000, 989999)}"
    voice = voice.knowing(_words(dice, lease, str(places["sign"]), reference))
    _opening(draft, voice, lease, reference)
    definitions(
        draft,
        voice,
        "lease_definitions",
        "In this Lease the following words have the meanings set beside them.",
    )
    optional = [("break", lease.has_break), ("guarantor", lease.guarantor is not None)]
    topics = [*_CORE, *(topic for topic, wanted in optional if wanted), "forfeit", "boiler"]
    sections(draft, voice, [(topic, dice.pick(_TITLES[topic])) for topic in topics])
    _schedule(draft, voice, cast, lease, min_characters)
    return f"Lease of {lease.premises}, title {reference}", draft.text()


def _words(dice: Dice, lease: Lease, sign: str, reference: str) -> dict[str, Fact]:
    """The facts as the sentences need them."""
    cap = round(lease.rent * dice.uniform(0.1, 0.3) / 100) * 100
    return {
        "deed": "Lease",
        "heads_date": long_date(add_days(lease.start, -dice.between(40, 120))),
        "premises": lease.premises,
        "permitted_use": lease.use,
        "building": lease.premises.partition(" known as ")[2],
        "rent": f"{sign}{grouped(lease.rent)}",
        "rent_start": long_date(lease.start),
        "rent_free": in_words(lease.rent_free_months),
        "rent_days": dice.pick(
            ("1 January, 1 April, 1 July and 1 October", "25 March, 24 June, 29 September and 25 December")
        ),
        "review_dates": ", ".join(long_date(day) for day in lease.reviews) or "none",
        "term_words": in_words(lease.years),
        "term_start": long_date(lease.start),
        "term_end": long_date(lease.end),
        "title_number": reference,
        "area": grouped(lease.area),
        "ins_share": f"{dice.uniform(4, 60):.2f}",
        "sc_share": f"{dice.uniform(4, 60):.2f}",
        "sc_cap": f"{sign}{grouped(cap)}",
        "fee": f"{sign}{dice.between(35, 150, 5)}",
        "year_end": dice.pick(("31 December", "31 March", "30 June", "30 September")),
        "edge_colour": dice.pick(("blue", "green")),
        "road_colour": dice.pick(("brown", "yellow")),
        "break_date": long_date(add_years(lease.start, max(3, lease.years // 2))),
        "ref_schedule": "Part 1 of the Schedule",
    }


def _opening(draft: Draft, voice: Voice, lease: Lease, reference: str) -> None:
    dice = voice.dice
    draft.add(f"LEASE\n\nof {lease.premises}\n\nDated {long_date(add_days(lease.start, -dice.below(25)))}")
    draft.add(f"Title number of the reversion: {reference}")
    country = voice.fill("{country}")
    parties = [
        f"(1) {lease.landlord} (the Landlord), company number {dice.between(100000, 999999)} in {country}",
        f"(2) {lease.tenant} (the Tenant), company number {dice.between(100000, 999999)} in {country}",
    ]
    if lease.guarantor:
        parties.append(
            f"(3) {lease.guarantor} (the Guarantor), of {voice.fill('{1..188} {street}, {place}')}"
        )
    draft.add("PARTIES\n\n" + "\n".join(parties))
    draft.add("THIS LEASE WITNESSES AS FOLLOWS:")


def _schedule(draft: Draft, voice: Voice, cast: Cast, lease: Lease, min_characters: int) -> None:
    dice = voice.dice
    draft.add("THE SCHEDULE")
    draft.add("Part 1: Rights reserved")
    for index in range(voice.size("rights")):
        draft.paragraph(partial(voice.nth, "rights", index), f"{index + 1}. ")
    day = long_date(add_days(lease.start, -dice.between(9, 60)))
    draft.add(
        f"Part 2: Schedule of Condition\n\nRecorded by {cast.person().name}, chartered surveyor, on {day}. "
        "Photographs are numbered through and kept with the counterpart."
    )
    photograph = room = 0
    while draft.size < min_characters:
        room += 1
        label = f"{room:02d}"
        draft.add(f"Room {label}: {voice.say('cond_room')}")
        for _ in range(dice.between(4, 8)):
            photograph += dice.between(1, 3)
            draft.paragraph(partial(_finding, voice), f"{label} (photograph {photograph}) ")
    draft.add(
        f"EXECUTED as a deed by {lease.landlord} acting by {cast.person().name}, director, "
        f"in the presence of {cast.person().name}, witness"
    )
    draft.add(f"EXECUTED as a deed by {lease.tenant} acting by {cast.person().name}, director and secretary")


def _finding(voice: Voice) -> str:
    """What the surveyor saw of one element, in words that fit the element."""
    index = voice.dice.deal("element", voice.size("cond_element"))
    element, _, group = voice.nth("cond_element", index).partition("|")
    return f"{element[:1].upper()}{element[1:]}: {voice.say(f'cond_{group}')}."
