"""In which order the tiers come in each repeat of a campaign, so that none always has the better place."""

from __future__ import annotations


def tier_order(tiers: tuple[str, ...], repeats: int) -> tuple[tuple[str, ...], ...]:
    """The tiers of each repeat, in order; balanced by Williams' design.

    The first repeat is the order as listed, and with two repeats the second is its reverse (ABBA), so that
    an even drift over the run falls on all tiers alike. Beyond that the repeats are rows of a cyclic Latin
    square whose first row goes back and forth between the two ends: over as many repeats as there are tiers
    each tier has each place once. With an even number of tiers each tier follows each other one equally
    often by then; with an odd number that needs the reversed rows too, which come next.

    The construction is that of E. J. Williams, Experimental designs balanced for the estimation of residual
    effects of treatments, Australian Journal of Scientific Research A 2 (1949), 149-168. That rows come in
    pairs of a row and its reverse where the square holds both is kvtui's own: so every even number of
    repeats is balanced against an even drift.

    Args:
        tiers: Their names as listed, each once.
        repeats: How many repeats.
    """
    if len(tiers) % 2 and repeats == 2:
        return (tiers, tiers[::-1])
    rows = _rows(len(tiers))
    return tuple(tuple(tiers[at] for at in rows[repeat % len(rows)]) for repeat in range(repeats))


def _rows(count: int) -> tuple[tuple[int, ...], ...]:
    """The rows of the design by place in the list, its first row in the order of the list."""
    ends = [(place + 1) // 2 if place % 2 else -(place // 2) % count for place in range(count)]
    place_of = {symbol: place for place, symbol in enumerate(ends)}
    square = [tuple(place_of[(symbol + shift) % count] for symbol in ends) for shift in range(count)]
    if count % 2:
        return (*square, *(row[::-1] for row in square))
    # Half way round the circle a row is the reverse of the one that it began with.
    half = count // 2
    return tuple(row for shift in range(half) for row in (square[shift], square[shift + half]))
