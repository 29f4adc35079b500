"""The little language of sentences with holes."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from corpus.dice import Dice
from corpus.draft import Draft
from corpus.errors import CorpusError
from corpus.grammar import compile_template, rules
from corpus.legal import lease
from corpus.numerals import in_words, letter, roman
from corpus.synonyms import vary
from corpus.voice import Voice


def voice(**facts: str) -> Voice:
    return Voice({"fruit": (compile_template("apple"),)}, Dice(3), facts, "words")


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain (a) text", "plain (a) text"),
        ("{fruit}", "apple"),
        ("{^fruit}", "Apple"),
        ("{a fruit} a day", "an apple a day"),
        ("{A fruit} a day", "An apple a day"),
        ("{a thing}", "a pear"),
        ("{7..7}", "7"),
        ("{w 21..21} days", "twenty-one days"),
        ("{W 21..21} days", "Twenty-one days"),
        ("{0.50..0.50}", "0.50"),
        ("[only]", "only"),
        ("[a [b]|a b]", "a b"),
    ],
)
def test_templates(template: str, expected: str) -> None:
    assert voice(thing="pear").fill(template) == expected


def test_a_range_stays_in_its_limits_and_steps() -> None:
    speaker = voice()
    values = {int(speaker.fill("{10..30/10}")) for _ in range(200)}
    assert values == {10, 20, 30}


@pytest.mark.parametrize("template", ["[open", "{open", "[a|b"])
def test_what_is_not_closed_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"not closed|not found"):
        compile_template(template)


@pytest.mark.parametrize(
    ("style", "expected"), [("words", "fourteen days"), ("digits", "14 days"), ("both", "fourteen (14) days")]
)
def test_numbers_follow_the_style_of_the_document(style: str, expected: str) -> None:
    speaker = Voice({}, Dice(3), {}, style)
    assert speaker.fill("{w 14..14} days") == expected
    assert speaker.fill("{W 14..14} days") == "Fourteen days"


def test_synonyms_stand_in_for_phrases_outside_choices_and_holes() -> None:
    assert vary("if it rains", "lease") == "[if|where] it rains"
    assert vary("if it rains", "clinic") == "if it rains"
    assert vary("[if|when] {if} gift", "lease") == "[if|when] {if} gift"


def test_a_house_style_is_kept_throughout() -> None:
    for seed in range(12):
        text = lease.write(Dice(seed), 9_000)[1]
        assert ("Landlord" in text) != ("Lessor" in text)
        assert ("Tenant" in text) == ("Landlord" in text)


def test_a_name_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(KeyError):
        voice().fill("{nobody}")


def test_a_rule_is_defined_once() -> None:
    names = [
        name
        for file in resources.files("corpus").joinpath("data").iterdir()
        if file.name.endswith(".txt")
        for name in [file.name.removesuffix(".txt")]
    ]
    assert len(names) > 10
    for name in names:
        text = resources.files("corpus").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
        headers = re.findall(r"(?m)^\[([a-z0-9_]+)\]$", text)
        assert len(headers) == len(set(headers)), name
        assert all(rules(name).values()), name


def test_a_reference_leads_to_the_section_of_its_topic() -> None:
    draft = Draft(Dice(1))
    draft.open_section("first", "{n}. FIRST")
    draft.numbered(lambda: voice().fill("See clause {ref second} and clause {ref *}."))
    draft.open_section("second", "{n}. SECOND")
    draft.numbered(lambda: "Text.")
    assert "See clause 2 and clause 2.1." in draft.text()


def test_a_draft_refuses_to_repeat_itself() -> None:
    draft = Draft(Dice(1))
    draft.paragraph(lambda: "The same.")
    with pytest.raises(CorpusError, match="ran dry"):
        draft.paragraph(lambda: "The same.")


def test_numerals() -> None:
    assert in_words(342_019) == "three hundred and forty-two thousand and nineteen"
    assert [roman(n) for n in (4, 9, 14, 40, 1994)] == ["IV", "IX", "XIV", "XL", "MCMXCIV"]
    assert [letter(n) for n in (0, 25, 26, 27)] == ["a", "z", "aa", "ab"]
