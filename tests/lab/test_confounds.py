"""Confounds that need different witnesses are found on real engines, and a clean campaign finds none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.confounds.outcome import Outcome
from bench.confounds.page import problems
from bench.confounds.plant import campaign
from bench.confounds.plants import plants
from bench.confounds.running import carry_out
from bench.confounds.stage import Stage, stage

pytestmark = [pytest.mark.lab, pytest.mark.timeout(1200)]

PLANTED = ("seed-differing", "page-cache-warm", "one-document-short", "values-zeroed", "store-restarted")
BY_NAME = {plant.name: plant for plant in plants()}


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory, engine_env: Path) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("confounds"), engine_env) as made:
        yield made


def said(outcome: Outcome) -> str:
    return "\n".join(f"{one.level} {one.code} {one.where}: {one.text} {one.shown}" for one in outcome.seen)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_confound_is_found(name: str, there: Stage) -> None:
    plant = BY_NAME[name]
    outcome = carry_out(there, plant.plan, plant)
    assert problems(list(BY_NAME.values()), [outcome]) == (), said(outcome)


def test_where_nothing_is_planted_nothing_is_found(there: Stage) -> None:
    outcome = carry_out(there, campaign())
    assert problems([], [outcome]) == (), said(outcome)
    assert outcome.seen, "not even what is worth a word was collected"
