"""An agreement for the sale of all shares of a company, with warranties and the disclosures against them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.house import author
from corpus.legal.contract import definitions, sections
from corpus.legal.jurisdiction import jurisdiction
from corpus.numerals import add_days, long_date
from corpus.people import Cast, Person, grouped
from corpus.voice import Fact, Voice

_TOPICS = (
    ("sale", "Sale and purchase"),
    ("price", "Consideration"),
    ("conditions", "Conditions"),
    ("conduct", "Conduct before Completion"),
    ("completion", "Completion"),
    ("warr", "Warranties"),
    ("limits", "Limits on liability"),
    ("tax", "Tax covenant"),
    ("restrict", "Protection of goodwill"),
    ("secret", "Confidentiality and announcements"),
    ("boiler", "General"),
)


@dataclass(frozen=True, slots=True)
class Sale:
    """The facts of a sale. Money in whole units of the currency; initial + retention + deferred = price."""

    company: str
    buyer: str
    sellers: tuple[Person, ...]
    holdings: tuple[int, ...]
    price: int
    retention: int
    deferred: int
    cap_per_cent: int
    signing: date
    completion: date
    accounts: date

    @property
    def initial(self) -> int:
        """What is paid at completion."""
        return self.price - self.retention - self.deferred

    @property
    def shares(self) -> int:
        """All shares of the company."""
        return sum(self.holdings)


def _sale(dice: Dice, cast: Cast) -> Sale:
    price = dice.between(2_400_000, 48_000_000, 50_000)
    count = dice.between(3, 6)
    signing = add_days(date(2004, 2, 2), dice.between(0, 6500))
    accounts_year = signing.year - (1 if signing.month > 4 else 2)
    return Sale(
        company=cast.firm(),
        buyer=cast.firm(),
        sellers=tuple(cast.person() for _ in range(count)),
        holdings=tuple(dice.between(400, 9_800, 100) for _ in range(count)),
        price=price,
        retention=round(price * dice.uniform(0.05, 0.1) / 10_000) * 10_000,
        deferred=round(price * dice.uniform(0.05, 0.2) / 10_000) * 10_000,
        cap_per_cent=dice.pick((25, 30, 40, 50, 60)),
        signing=signing,
        completion=add_days(signing, dice.between(20, 60)),
        accounts=date(accounts_year, *dice.pick(((3, 31), (6, 30), (9, 30), (12, 31)))),
    )


def _facts(dice: Dice, cast: Cast, sale: Sale, sign: str) -> Mapping[str, Fact]:
    def money(amount: int) -> str:
        return f"{sign}{grouped(amount)}"

    return {
        "deed": "Agreement",
        "company": sale.company,
        "short_name": sale.company.split()[0],
        "seat": cast.place(),
        "bank": f"{cast.new('{firm_stem}')} Bank",
        "price": money(sale.price),
        "initial": money(sale.initial),
        "retention": money(sale.retention),
        "deferred": money(sale.deferred),
        "cap": money(sale.price * sale.cap_per_cent // 100),
        "cap_pct": str(sale.cap_per_cent),
        "minimis": money(sale.price // 1000 // 500 * 500),
        "threshold": money(sale.price // 100 // 500 * 500),
        "working_capital": money(dice.between(180_000, 2_900_000, 1_000)),
        "money_pay": f"{sign}{dice.between(45, 90)},000",
        "shares": grouped(sale.shares),
        "nominal": f"{sign}{dice.pick(('1', '0.10', '0.50'))}",
        "signing_date": long_date(sale.signing),
        "heads_date": long_date(add_days(sale.signing, -dice.between(50, 160))),
        "completion_date": long_date(sale.completion),
        "longstop_date": long_date(add_days(sale.completion, dice.between(60, 120))),
        "deferred_date": long_date(add_days(sale.completion, 365)),
        "claims_date": long_date(add_days(sale.completion, dice.between(540, 730))),
        "accounts_date": long_date(sale.accounts),
        "management_date": long_date(add_days(sale.signing, -dice.between(25, 50))),
        "premium_date": long_date(add_days(sale.completion, dice.between(30, 200))),
        "old_date": long_date(add_days(sale.signing, -dice.between(900, 3000))),
        "director_a": sale.sellers[0].name,
        "director_b": sale.sellers[1].name,
    }


def write(dice: Dice, min_characters: int) -> tuple[str, str]:
    """Title and text of one share purchase agreement."""
    voice, draft = author(dice, "law", "spa", "names", "law", "spa")
    cast = Cast(voice)
    places = jurisdiction(voice, cast)
    sale = _sale(dice, cast)
    warranties: list[str] = ["1.1"]
    facts = _facts(dice, cast, sale, str(places["sign"]))
    business = voice.say("business")
    voice = voice.knowing(
        {**places, **facts, "business": business, "warranty_ref": lambda: dice.pick(warranties)}
    )
    draft.add(
        f"AGREEMENT for the sale and purchase of the shares of {sale.company}\n\n"
        f"Dated {long_date(sale.signing)}"
    )
    draft.add(
        f"PARTIES\n\n(1) The persons named in Part 2 of Schedule 1 (the Sellers), of whom "
        f"{sale.sellers[0].name} acts as their representative\n(2) {sale.buyer} (the Buyer)"
    )
    definitions(
        draft, voice, "spa_definitions", "In this Agreement these words have the meanings set out here."
    )
    sections(draft, voice, _TOPICS)
    _particulars(draft, voice, cast, sale)
    _warranties(draft, voice, warranties)
    _disclosures(draft, voice, cast, sale, warranties, min_characters)
    draft.add("SIGNED by the parties on the date stated at the head of this Agreement.")
    return f"Share purchase agreement, {sale.company}, {long_date(sale.signing)}", draft.text()


def _particulars(draft: Draft, voice: Voice, cast: Cast, sale: Sale) -> None:
    number = voice.dice.between(1_000_000, 9_899_999)
    draft.add(
        f"SCHEDULE 1\n\nPart 1: The Company\n\nName: {sale.company}\nRegistered number: {number}\n"
        f"Registered office: {cast.address()}\nDirectors: {sale.sellers[0].name}, {sale.sellers[1].name}"
    )
    rows = [
        f"{person.name}, {cast.address()} | {grouped(held)} shares | {held / sale.shares:.2%}"
        for person, held in zip(sale.sellers, sale.holdings, strict=True)
    ]
    draft.add("Part 2: The Sellers\n\n" + "\n".join(rows) + f"\nTotal | {grouped(sale.shares)} shares")


def _warranties(draft: Draft, voice: Voice, warranties: list[str]) -> None:
    draft.add("SCHEDULE 2: WARRANTIES")
    warranties.clear()
    place = 0
    titles = voice.size("warranty_title")
    for group in range(1, titles + 1):
        draft.add(f"{group}. {voice.nth('warranty_title', group - 1)}")
        share = voice.size("warranty") * group // titles
        for number, index in enumerate(range(place, share), 1):
            label = f"{group}.{number}"
            warranties.append(label)
            draft.paragraph(partial(voice.nth, "warranty", index), f"{label} ")
        place = share


def _disclosures(
    draft: Draft, voice: Voice, cast: Cast, sale: Sale, warranties: list[str], min_characters: int
) -> None:
    dice = voice.dice
    draft.add(
        f"SCHEDULE 3: DISCLOSURE LETTER\n\nTo {sale.buyer}, {long_date(sale.signing)}. "
        "Each disclosure names the paragraph of Schedule 2 to which it chiefly relates."
    )
    groups: dict[str, list[str]] = {}
    for label in warranties:
        groups.setdefault(label.partition(".")[0], []).append(label)
    number = 0
    while draft.size < min_characters:
        number += 1
        day = add_days(sale.signing, -dice.between(60, 1500))
        draft.paragraph(partial(_disclosure, voice.knowing(_dates(dice, day, sale)), groups), f"{number}. ")


def _dates(dice: Dice, day: date, sale: Sale) -> dict[str, Fact]:
    """The day of an event that is disclosed, of the answer to it, and a day after completion."""
    return {
        "event_date": long_date(day),
        "event_year": str(day.year),
        "reply_date": lambda: long_date(add_days(day, dice.between(5, 50))),
        "later_date": lambda: long_date(add_days(sale.completion, dice.between(40, 1200))),
    }


def _disclosure(voice: Voice, groups: Mapping[str, list[str]]) -> str:
    """A disclosure under a paragraph of the group of warranties that it concerns."""
    group, _, text = voice.say("disclosure").partition("|")
    return f"Paragraph {voice.dice.pick(groups[group])}. {text}"
