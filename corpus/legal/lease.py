"""A lease of business premises, with its schedule of condition."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.grammar import rules
from corpus.legal.jurisdiction import jurisdiction
from corpus.numerals import add_days, add_years, in_words, long_date
from corpus.people import Cast, grouped
from corpus.voice import Voice

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
    return Lease(
        start=date(dice.between(2003, 2023), dice.between(1, 12), dice.pick((1, 24, 25, 28))),
        years=years,
        rent=round(area * dice.uniform(70, 310) / 250) * 250,
        rent_free_months=dice.between(2, 9),
        area=area,
        landlord=cast.firm(),
        tenant=cast.firm(),
        guarantor=cast.firm() if dice.chance(0.6) else None,
        premises=voice.fill(f"the {{premises_type}} known as {cast.address()}"),
        review_every=dice.pick((3, 4, 5)),
        has_break=dice.chance(0.6),
    )


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one lease."""
    voice = Voice(rules("names", "law", "lease"), dice, {})
    cast = Cast(voice)
    places = jurisdiction(voice, cast)
    voice = voice.knowing(places)
    lease = _facts(dice, cast, voice)
    sign = str(places["sign"])
    heads = add_days(lease.start, -dice.between(40, 120))
    break_date = add_years(lease.start, max(3, lease.years // 2))
    voice = voice.knowing(
        {
            "deed": "Lease",
            "heads_date": long_date(heads),
            "rent": f"{sign}{grouped(lease.rent)}",
            "rent_start": long_date(lease.start),
            "rent_free": in_words(lease.rent_free_months),
            "area": grouped(lease.area),
            "ins_share": f"{dice.uniform(4, 60):.2f}",
            "sc_share": f"{dice.uniform(4, 60):.2f}",
            "sc_cap": f"{sign}{grouped(round(lease.rent * dice.uniform(0.1, 0.3) / 100) * 100)}",
            "fee": f"{sign}{dice.between(35, 150, 5)}",
            "year_end": dice.pick(("31 December", "31 March", "30 June", "30 September")),
            "edge_colour": dice.pick(("blue", "green", "brown", "yellow")),
            "break_date": long_date(break_date),
            "ref_schedule": "Part 1 of the Schedule",
        }
    )
    draft = Draft(dice)
    reference = f"{dice.pick('ABCDEFHKLNPRST')}{dice.pick('CDFGHKLMNPT')}{dice.between(100000, 989999)}"
    _opening(draft, voice, lease, reference)
    _definitions(draft, voice, lease, sign)
    topics = list(_CORE)
    topics += ["break"] if lease.has_break else []
    topics += ["guarantor"] if lease.guarantor else []
    for topic in [*topics, "forfeit", "boiler"]:
        draft.open_section(topic, f"{{n}}. {dice.pick(_TITLES[topic]).upper()}")
        rule = "use_cov" if topic == "use" else topic
        for index in range(voice.size(rule)):
            if index == 0 or dice.chance(0.9):
                draft.numbered(partial(voice.nth, rule, index))
    _schedule(draft, voice, cast, lease, min_characters)
    return f"Lease of {lease.premises}, title {reference}", draft.text()


def _opening(draft: Draft, voice: Voice, lease: Lease, reference: str) -> None:
    draft.add(
        f"LEASE\n\nof {lease.premises}\n\nDated {long_date(add_days(lease.start, -voice.dice.below(25)))}"
    )
    draft.add(f"Title number of the reversion: {reference}")
    parties = [
        f"(1) {lease.landlord} (the Landlord), incorporated in {{country}} with company number {{100000..999999}}",
        f"(2) {lease.tenant} (the Tenant), incorporated in {{country}} with company number {{100000..999999}}",
    ]
    if lease.guarantor:
        parties.append(
            f"(3) {lease.guarantor} (the Guarantor), whose registered office is at {{1..188}} {{street}}, {{place}}"
        )
    draft.add("PARTIES\n\n" + "\n".join(voice.fill(party) for party in parties))
    draft.add("THIS LEASE WITNESSES AS FOLLOWS:")


def _definitions(draft: Draft, voice: Voice, lease: Lease, sign: str) -> None:
    reviews = ", ".join(long_date(day) for day in lease.reviews) or "none"
    draft.open_section("definitions", "{n}. DEFINITIONS")
    draft.numbered(lambda: "In this Lease the following words have the meanings set beside them.")
    for line in (
        f"Premises: {lease.premises}, having a net internal area of {grouped(lease.area)} square metres.",
        f"Term: {in_words(lease.years)} years from and including {long_date(lease.start)} to and including "
        f"{long_date(lease.end)}.",
        f"Principal Rent: {sign}{grouped(lease.rent)} a year, subject to review under clause {{ref review}}.",
        f"Review Dates: {reviews}.",
        "Rents: the Principal Rent, the Insurance Rent, the Service Charge and every other sum due under clause {ref rent}.",
        "Interest Rate: {w 2..5} per cent a year above the base lending rate of the Central Bank of {country}.",
        "Insured Risks: fire, lightning, explosion, storm, flood, [burst pipes|escape of water], impact, riot, and such "
        "other risks as the Landlord [reasonably|from time to time] insures under clause {ref insurance}.",
        "Inherent Defect: a defect in design, workmanship or materials in the original construction of the Building.",
        "Permitted Use: the use which clause {ref use} allows.",
        "Business Day: a day other than a Saturday, a Sunday or a public holiday in {country}.",
    ):
        draft.paragraph(partial(voice.fill, line))


def _schedule(draft: Draft, voice: Voice, cast: Cast, lease: Lease, min_characters: int) -> None:
    dice = voice.dice
    surveyor = cast.person()
    day = add_days(lease.start, -dice.between(9, 60))
    draft.add("THE SCHEDULE")
    draft.add("Part 1: Rights reserved")
    for index, rule in enumerate(("boiler", "repair", "service")):
        draft.paragraph(partial(voice.say, rule), f"{index + 1}. ")
    draft.add(
        f"Part 2: Schedule of Condition\n\nRecorded by {surveyor.name}, chartered surveyor, on {long_date(day)}. "
        f"Dimensions are in millimetres unless stated."
    )
    photograph = room = 0
    while draft.size < min_characters:
        room += 1
        floor = dice.pick(("G", "1", "2", "B"))
        draft.add(f"Room {floor}.{room:02d} {voice.say('cond_room')}")
        for element in dice.take(range(voice.size("cond_element")), dice.between(4, 8)):
            photograph += dice.between(1, 3)
            del element
            draft.paragraph(
                lambda: voice.fill("{^cond_element}: {cond_finding}."),
                f"{floor}.{room:02d} (photograph {photograph}) ",
            )
    draft.add(
        f"EXECUTED as a deed by {lease.landlord} acting by {cast.person().name}, director, in the presence of "
        f"{cast.person().name}, witness"
    )
    draft.add(
        f"EXECUTED as a deed by {lease.tenant} acting by {cast.person().name} and {cast.person().name}, directors"
    )
