"""The order of a cached pass, from the plan to the requests."""

from __future__ import annotations

import pytest

from corpus.tokens import TokenDocument
from kvtui.campaign.documents import in_order
from kvtui.plan import Order
from kvtui.samples import Pass
from tests.kvtui.plans import lab_plan

DOCUMENTS = [TokenDocument(f"d{number}", (number,), None, "") for number in range(8)]


@pytest.mark.parametrize("order", list(Order))
def test_only_the_cached_pass_has_an_order_of_its_own(order: Order) -> None:
    plan = lab_plan()
    plan = plan.model_copy(update={"passes": plan.passes.model_copy(update={"order": order})})
    assert list(in_order(plan, Pass.COLD, DOCUMENTS)) == DOCUMENTS
    cached = in_order(plan, Pass.CACHED, DOCUMENTS)
    assert sorted(cached, key=lambda document: document.document_id) == DOCUMENTS
    assert (list(cached) == DOCUMENTS) == (order is Order.SAME)
    assert (list(cached) == DOCUMENTS[::-1]) == (order is Order.REVERSED)
    assert cached == in_order(plan, Pass.CACHED, DOCUMENTS)
