"""Whatever stands in a person's file, what is wrong with it is said in kvtui's words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from kvtui.draft_faults import faults_of
from kvtui.errors import KvtuiError, PlanError
from kvtui.fault_words import fault_sentence, fault_words
from kvtui.hosts_file import NodeEntry, make_entry
from kvtui.plan import Plan, plan_of
from kvtui.plan_draft import draft_of
from kvtui.settings import Settings, load_settings
from tests.kvtui.knowing import seed_plan

# How pydantic 2 begins its sentences (pydantic_core/src/errors/types.rs).
FOREIGN = re.compile(
    r"\b(Input should|Value error|Field required|Extra inputs|Invalid JSON|Object has no attribute|"
    r"(String|Tuple|List|Dictionary|Set|Data|Value|Decimal|URL|Unable|Assertion|Arguments?) "
    r"(should|must|failed|type|to|input)|validation errors?|pydantic|Keys should)\b|type=|input_value"
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=60),
    st.sampled_from(["", "nan", "inf", "x" * 5000, "\x00", "-1", "LRU", "single", "a b", 10**25]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MANY = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def places(value: object, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in plain values, and one that is not there in each table."""
    yield before
    if isinstance(value, dict):
        yield (*before, "no-such-field")
        for name, inner in value.items():
            yield from places(inner, (*before, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from places(inner, (*before, number))


def put(data: Any, place: tuple[str | int, ...], value: Any) -> Any:
    """The same values but for one."""
    if not place:
        return value
    changed = deepcopy(data)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return changed


def refusal(make: Callable[[], object]) -> str:
    """What a person is told; empty where nothing is wrong."""
    try:
        make()
    except KvtuiError as error:
        return str(error)
    return ""


SEED: Any = seed_plan().model_dump(mode="json")
IN_PLAN = sorted(places(SEED), key=str)


@MANY
@given(st.sampled_from(IN_PLAN), VALUES)
def test_a_plan_is_refused_in_words_of_ones_own(place: tuple[str | int, ...], value: Any) -> None:
    words = refusal(lambda: plan_of(put(SEED, place, value), "my.toml"))
    assert not FOREIGN.search(words.replace(str(value), "")), words


@MANY
@given(st.sampled_from(sorted(NodeEntry.model_fields)), VALUES)
def test_a_node_is_refused_in_words_of_ones_own(field: str, value: Any) -> None:
    words = refusal(lambda: make_entry({"name": "gpu-a", "ssh": "gpu-a", field: value}))
    assert not FOREIGN.search(words.replace(str(value), "")), words


@MANY
@given(st.sampled_from([*sorted(Settings.model_fields), "no-such-field"]), VALUES)
def test_settings_are_refused_in_words_of_ones_own(field: str, value: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({field: value, "other": 1}, strict=True)
    for fault in caught.value.errors():
        assert not FOREIGN.search(fault_words(fault)), fault
        assert fault_sentence(fault)


@MANY
@given(st.sampled_from(IN_PLAN), VALUES)
def test_the_form_says_it_in_words_of_ones_own(place: tuple[str | int, ...], value: Any) -> None:
    values = draft_of(seed_plan(), {}).values
    try:
        Plan.model_validate_json(json.dumps(put(SEED, place, value)), strict=True)
    except ValidationError as error:
        for words in faults_of(error, [0, 1, 2, 3], values).values():
            assert not FOREIGN.search(words.replace(str(value), "")), words


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("theme = 3\n", "theme: a text, not 3."),
        ("readonly = 'perhaps'\n", 'readonly: true or false, not the text "perhaps".'),
        ("keys = 'p'\n", 'keys: a table, not the text "p".'),
        ("colour = 'red'\n", "colour: unknown field."),
    ],
)
def test_settings(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(PlanError) as caught:
        load_settings(tmp_path)
    assert caught.value.message == f"{tmp_path / 'config.toml'}: {sentence}"


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("corpus", "documents"), 0, "corpus.documents: 1 or more"),
        (("corpus", "documents"), 10**6, "corpus.documents: 100,000 at most"),
        (("corpus", "documents"), None, "corpus.documents: a whole number, not nothing"),
        (("corpus", "seed"), 10**30, "corpus.seed: "),
        (("model", "path"), "", "model.path: needed"),
        (("passes", "topologies"), ["twin"], 'passes.topologies[1]: single or fleet, not the text "twin"'),
        (("passes", "topologies"), "single", 'passes.topologies: a list, not the text "single"'),
        (("tiers", 0, "kind"), 4, "tiers[1].kind: none, dram, disk or valkey, not 4"),
        (("tiers", 0, "name"), "a" * 41, "tiers[1].name: 40 characters at most"),
        (("hash",), [], "hash: a table, not a list"),
    ],
)
def test_what_is_wanted_and_what_is_there(place: tuple[str | int, ...], value: Any, words: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan_of(put(SEED, place, value), "my.toml")
    assert words in caught.value.message
