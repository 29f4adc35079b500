"""What storing costs, in words that say no more than is known."""

from __future__ import annotations

import pytest

from kvtui.live.times import StorePrice
from screens.widgets.live.breakdown import price_words


@pytest.mark.parametrize(
    ("price", "short", "long"),
    [
        (None, "", ""),
        (StorePrice(176.0, 151.0, 204.0), "store +176", "store +176 (151–204)"),
        (StorePrice(12.0, -8.0, 30.0), "store ≈ 0", "store within noise"),
        (StorePrice(-40.0, -60.0, -20.0), "store ≈ 0", "store within noise"),
        (StorePrice(90.0, None, None), "store –", "store – (few documents)"),
    ],
)
def test_a_price_is_told_with_its_interval_or_not_at_all(
    price: StorePrice | None, short: str, long: str
) -> None:
    assert (price_words(price, long=False), price_words(price, long=True)) == (short, long)
