"""The facts of a document hang together."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.dice import Dice
from corpus.generate import KINDS
from corpus.medical.drugs import drugs
from corpus.medical.guideline import Study
from corpus.medical.labs import analytes, course, egfr
from corpus.numerals import MONTHS

WRITERS = {kind: write for kinds in KINDS.values() for kind, write in kinds}
SEEDS = range(6)


@pytest.fixture(autouse=True)
def plain_house_style(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of the rules as they stand, so that one pattern finds a fact in every document."""
    monkeypatch.setattr("corpus.house._style", lambda dice, kind: str)


def text_of(kind: str, seed: int, characters: int = 26_000) -> str:
    return WRITERS[kind](Dice("facts", seed), characters)[1]


def long_day(text: str) -> date:
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day))


def short_day(text: str) -> date:
    day, month, year = text.split("-")
    return date(int(year), [name[:3] for name in MONTHS].index(month) + 1, int(day))


def money(text: str) -> int:
    return int(re.sub(r"\D", "", text))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["lease", "share-purchase"])
def test_every_clause_that_is_cited_exists(kind: str, seed: int) -> None:
    text = text_of(kind, seed)
    sections = set(re.findall(r"(?m)^(\d+)\. [A-Z]", text))
    clauses = set(re.findall(r"(?m)^(\d+\.\d+) ", text))
    cited = re.findall(r"\bclauses? (\d+(?:\.\d+)?)", text)
    assert len(cited) > 5
    assert [label for label in cited if label not in sections | clauses] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_every_section_of_an_act_that_is_cited_exists(seed: int) -> None:
    text = text_of("statute", seed)
    body = text.partition("SCHEDULE 5")[0]
    sections = set(re.findall(r"(?m)^(\d+) [A-Z][a-z]", body.partition("SCHEDULE 1")[0]))
    cited = re.findall(r"\bsection (\d+)\b", body)
    assert len(cited) > 8
    assert [label for label in cited if label not in sections] == []
    for number in range(1, 6):
        assert f"SCHEDULE {number}\n" in text


@pytest.mark.parametrize("seed", SEEDS)
def test_every_section_of_a_protocol_that_is_cited_exists(seed: int) -> None:
    text = text_of("trial-protocol", seed)
    sections = set(re.findall(r"(?m)^(\d+)\. [A-Z]", text))
    cited = re.findall(r"\bsections? (\d+)(?: and (\d+))?", text)
    assert len(cited) > 5
    assert [label for pair in cited for label in pair if label and label not in sections] == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lease_reviews_its_rent_within_its_term(seed: int) -> None:
    text = text_of("lease", seed)
    found = re.search(r"Term: .* from and including (.*) to and including (.*)\.", text)
    assert found
    start, end = long_day(found[1]), long_day(found[2])
    reviews = re.search(r"Review Dates: (.*)\.", text)
    assert reviews
    days = [long_day(day) for day in reviews[1].split(", ")]
    assert all(start < day < end for day in days)
    rents = re.findall(r"Principal Rent(?::| of) (?:£|€|\$|kr |CHF )([\d,]+) a year", text)
    assert len(set(rents)) == 1
    assert len(rents) == 2


@pytest.mark.parametrize("seed", SEEDS)
def test_the_parts_of_a_price_add_up(seed: int) -> None:
    text = text_of("share-purchase", seed)
    found = re.search(
        r"The Consideration is (\D*[\d,]+), of which (\D*[\d,]+) is payable in cash at Completion, "
        r"(\D*[\d,]+) is paid to the Escrow Agent, and (\D*[\d,]+) is deferred",
        text,
    )
    assert found
    price, *parts = (money(part) for part in found.groups())
    assert sum(parts) == price
    held = [int(part.replace(",", "")) for part in re.findall(r"\| ([\d,]+) shares", text)]
    assert sum(held[:-1]) == held[-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_disclosure_is_made_against_a_warranty_that_exists(seed: int) -> None:
    text = text_of("share-purchase", seed)
    schedule, _, letter = text.partition("SCHEDULE 2: WARRANTIES")[2].partition("SCHEDULE 3")
    warranties = set(re.findall(r"(?m)^(\d+\.\d+) ", schedule))
    cited = re.findall(r"(?m)^\d+\. Paragraph (\d+\.\d+)\.", letter)
    assert len(cited) > 5
    assert set(cited) <= warranties


@pytest.mark.parametrize("seed", SEEDS)
def test_a_judgment_allows_what_its_items_add_up_to(seed: int) -> None:
    text = text_of("judgment", seed)
    total = re.search(
        r"the claimant is entitled to (\D*[\d,]+) (?:in respect of|as regards|in relation to) the items", text
    )
    opened = re.search(r"The claim as pressed in closing is for (\D*[\d,]+)\.", text)
    assert total
    assert opened
    items = re.split(r"(?m)^Item \d+: ", text)[1:]
    # The sum allowed is the last one named in an item's second paragraph.
    allowed = 0
    for item in items:
        decision = item.split("\n\n")[2]
        sums = re.findall(r"(?:£|€|\$|kr |CHF )([\d,]*\d)", decision)
        allowed += money(sums[-1]) if sums else 0
    assert allowed == money(total[1])
    numbers = [int(number) for number in re.findall(r"(?m)^\[(\d+)\] ", text)]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_notice_counts_its_findings_and_works_out_its_penalty(seed: int) -> None:
    text = text_of("regulatory-notice", seed)
    assert len(re.findall(r"(?m)^Finding \d+\.\d+: ", text)) >= 9
    step = {
        number: re.search(rf"Step {number}, .*? (?:gives|hundred, is) \D*([\d,]*\d)\.", text)
        for number in (2, 3, 5)
    }
    level = re.search(r"turnover was \D*([\d,]*\d)\. The Authority assessed the level at (\d) per cent", text)
    raised = re.search(r"an increase of (\d+) per cent", text)
    assert level
    assert raised
    sums = [money(found[1]) for found in step.values() if found]
    assert sums[0] == money(level[1]) * int(level[2]) // 100
    assert sums[1] == sums[0] * (100 + int(raised[1])) // 100
    assert sums[2] == sums[1] * 70 // 100 // 100 * 100


@pytest.mark.parametrize("seed", SEEDS)
def test_a_patient_s_age_agrees_with_the_date_of_birth(seed: int) -> None:
    text = text_of("discharge-summary", seed, 60_000)
    born_text = re.search(r"Date of birth: (\S+)", text)
    assert born_text
    born = short_day(born_text[1])
    stays = re.findall(r"This (\d+)-year-old (?:man|woman) was admitted on (\S+)\. ", text)
    assert len(stays) >= 2
    for age, admitted in stays:
        day = short_day(admitted)
        assert int(age) == day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    spans = re.findall(r"EARLIER ADMISSION, (\S+) to (\S+)", text)
    first = re.search(r"Admitted: (\S+) ", text)
    assert first
    later = short_day(first[1])
    for start, end in spans:
        assert short_day(start) < short_day(end) < later
        later = short_day(start)


@pytest.mark.parametrize("seed", SEEDS)
def test_laboratory_flags_agree_with_the_reference_range(seed: int) -> None:
    text = text_of("discharge-summary", seed)
    rows = re.findall(r"(?m)^.* \(.*; ([\d.]+)–([\d.]+)\) \| (.*)$", text)
    assert len(rows) >= len(analytes())
    for low, high, cells in rows:
        for cell in cells.split(" | "):
            value, _, flag = cell.partition(" ")
            expected = "H" if float(value) > float(high) else "L" if float(value) < float(low) else ""
            assert flag == expected, cell


@pytest.mark.parametrize("seed", SEEDS)
def test_a_drug_is_given_in_a_dose_of_its_class(seed: int) -> None:
    text = text_of("discharge-summary", seed) + text_of("case-report", seed)
    for drug in drugs().values():
        for dose in re.findall(rf"\b{drug.name} ([\d.]+ (?:mg|g|micrograms))", text):
            assert dose in drug.doses, drug.name


@pytest.mark.parametrize("seed", SEEDS)
def test_a_case_report_s_figures_are_those_of_its_cases(seed: int) -> None:
    text = text_of("case-report", seed)
    cases = len(re.findall(r"(?m)^CASE \d+$", text))
    assert f"We describe {cases} patients" in text
    span = re.search(r"ranged from (\d+) to (\d+) days", text)
    assert span
    body, _, references = text.partition("\nREFERENCES\n")
    cited = [int(number) for number in re.findall(r"\[(\d+)\]", body)]
    assert cited == list(range(1, len(cited) + 1))
    assert len(re.findall(r"(?m)^\d+\. ", references)) == len(cited) > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_narrative_s_latency_is_that_of_its_dates(seed: int) -> None:
    text = text_of("safety-narratives", seed)
    narratives = text.split("\nCase ")[1:]
    total = re.search(r"(?m)^total \| (\d+)$", text)
    assert total
    assert int(total[1]) == len(narratives)
    checked = 0
    for narrative in narratives:
        started = re.search(
            r"(?:treated with .*? from|had taken .*? since|began \w+ \d.*? on) (\d\d-\w{3}-\d{4})", narrative
        )
        onset = re.search(
            r"(?:On|event began on) (\d\d-\w{3}-\d{4}),? (?:\(latency )?(\d+) days|"
            r"After (\d+) days of treatment, on (\d\d-\w{3}-\d{4})",
            narrative,
        )
        if started and onset:
            day, days = (onset[1], onset[2]) if onset[1] else (onset[4], onset[3])
            assert (short_day(day) - short_day(started[1])).days == int(days)
            checked += 1
    assert checked >= 5


@pytest.mark.parametrize("seed", SEEDS)
def test_a_trial_s_groups_add_up(seed: int) -> None:
    text = text_of("trial-protocol", seed)
    found = re.search(r"(\d+) participants will be assigned in the ratio 1:1:1 .*, (\d+) to each", text)
    power = re.search(r"With (\d+) participants in each group", text)
    assert power
    if found:
        assert int(found[1]) == 3 * int(found[2])
        assert found[2] == power[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_relative_risk_follows_from_the_counts(seed: int) -> None:
    text = text_of("guideline", seed)
    found = re.findall(
        r"(\d+) of (\d+) and (\d+) of (\d+) "
        r"\(relative risk ([\d.]+), 95 per cent interval ([\d.]+) to ([\d.]+)\)",
        text,
    )
    assert found
    for events, size, control, control_size, *figures in found:
        study = Study(int(events), int(size), int(control), int(control_size))
        expected = (study.relative_risk, *study.interval)
        assert figures == [f"{value:.2f}" for value in expected]


@given(st.integers(0, 10**6), st.sampled_from(sorted(analytes())), st.integers(2, 40))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_course_goes_from_its_start_to_its_end(seed: int, name: str, days: int) -> None:
    analyte = analytes()[name]
    values = course(Dice(seed), analyte, analyte.high * 3, analyte.high, days)
    assert len(values) == days
    assert values[0] == pytest.approx(analyte.high * 3, rel=0.03)
    assert values[-1] == pytest.approx(analyte.high, rel=0.03)


def test_the_filtration_rate_is_that_of_the_published_formula() -> None:
    # CKD-EPI 2021: a woman of 50 with 1.0 mg/dL has 69, a man of 50 with 1.0 mg/dL has 92.
    assert egfr(88.4, 50, woman=True) == 69
    assert egfr(88.4, 50, woman=False) == 92
