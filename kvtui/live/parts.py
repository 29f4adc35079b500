"""Where the time of a tier goes: medians of the parts of its TTFTs, and what storing costs its cold pass."""

from __future__ import annotations

from kvtui.live.book import BlockBook
from kvtui.live.times import StorePrice, TierParts
from kvtui.stats.estimate import middle_of, paired_differences
from kvtui.stats.order import median_interval


def store_price(book: BlockBook, bare: BlockBook | None) -> StorePrice | None:
    """What storing costs a cold request, document by document.

    Args:
        book: The requests of a tier.
        bare: Those of the tier without a cache; ``None`` when there is none, or for itself.
    """
    if bare is None:
        return None
    differences = paired_differences(book.cold.ttft_ms, bare.cold.ttft_ms).values()
    if not differences:
        return None
    ascending = sorted(differences)
    found = median_interval(ascending)
    return StorePrice(middle_of(ascending), found.low if found else None, found.high if found else None)


def tier_parts(
    tier: str, topology: str, book: BlockBook, bare: BlockBook | None, *, current: bool
) -> TierParts:
    """The medians of a tier in one topology.

    Args:
        tier: Its name.
        topology: ``single`` or ``fleet``.
        book: Its requests.
        bare: Those of the tier without a cache; ``None`` when there is none, or for itself.
        current: Whether the run works on it now.
    """
    cached = book.cached[topology]
    cached_ms, cold_ms = cached.ttft.median, book.cold.ttft.median
    lookup_ms, retrieve_ms = cached.lookup.median, cached.retrieve.median
    rest_ms = None if cached_ms is None else max(0.0, cached_ms - (lookup_ms or 0.0) - (retrieve_ms or 0.0))
    return TierParts(
        tier=tier,
        topology=topology,
        current=current,
        cached_n=len(cached.ttft),
        cached_ms=cached_ms,
        lookup_at_most_ms=lookup_ms if cached_ms is not None else None,
        retrieve_ms=retrieve_ms if cached_ms is not None else None,
        rest_ms=rest_ms,
        cold_ms=cold_ms,
        store_ms=book.cold.store.median,
        store_price=store_price(book, bare),
    )
