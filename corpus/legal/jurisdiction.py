"""A made-up country whose courts, statutes and bodies a legal document may name."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.people import Cast
from corpus.voice import Fact, Voice

_CURRENCIES = ("£", "€", "$", "kr ", "CHF ")


def jurisdiction(voice: Voice, cast: Cast) -> Mapping[str, Fact]:
    """The facts that every legal kind needs: the country and the names of its institutions and statutes."""
    dice = voice.dice
    country = cast.new("{country}")
    sign = dice.pick(_CURRENCIES)

    def act(subject: str) -> str:
        return f"{subject} Act {dice.between(1925, 1994)}"

    def money(low: int, high: int, step: int) -> Fact:
        return lambda: f"{sign}{dice.between(low, high, step):,}"

    return {
        "country": country,
        "sign": sign,
        "money_small": money(250, 9_750, 250),
        "money": money(12_500, 985_000, 500),
        "money_big": money(2_000_000, 25_000_000, 500_000),
        "court": dice.pick(
            (
                f"High Court of {country}",
                f"Commercial Court of {country}",
                f"Superior Court of {country}",
                f"Court of Session of {country}",
            )
        ),
        "institute": dice.pick(
            (
                f"{country} Institution of Surveyors",
                f"Royal Institute of Valuers of {country}",
                f"Society of Chartered Arbitrators of {country}",
            )
        ),
        "rights_act": act("Contracts (Third Party Rights)"),
        "arb_act": act("Arbitration"),
        "env_act": act(dice.pick(("Environmental Protection", "Waste and Contaminated Land", "Clean Air"))),
        "safety_act": act(dice.pick(("Workplace Safety", "Construction (Health and Safety)"))),
        "tenancy_act": act(dice.pick(("Business Tenancies", "Commercial Premises", "Landlord and Tenant"))),
        "company_act": act("Companies"),
        "insolv_act": act(dice.pick(("Insolvency", "Insolvency and Restructuring"))),
    }
