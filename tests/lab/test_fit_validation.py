"""What the fit model predicts of tiers that are too small, real engines do."""

from __future__ import annotations

import pytest

from bench.fit_combinations import combinations, predicted
from bench.fit_measuring import measure
from bench.place import Place
from kvtui.fit import Reuse
from kvtui.plan import Policy, TierKind

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

EXPECTED = {
    (TierKind.DRAM, Policy.FIFO): Reuse(5, 5, 6),
    (TierKind.DISK, Policy.LRU): Reuse(4, 4, 6),
}
"""Some are found and some are not; in DRAM with LRU it would be as many as on disk, with FIFO one more."""


def test_a_shuffled_pass_finds_as_many_documents_as_predicted(place: Place) -> None:
    wanted = [one for one in combinations() if one.run == "shuffled" and (one.kind, one.policy) in EXPECTED]
    assert {(one.kind, one.policy): predicted(one) for one in wanted} == EXPECTED
    said: list[str] = []
    found = {
        (one.combination.kind, one.combination.policy): one.found
        for one in measure(wanted, place.env, place.data, said.append)
    }
    assert found == {key: reuse.low for key, reuse in EXPECTED.items()}, said
