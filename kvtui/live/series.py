"""The documents in request order, and whether the first ones are unlike the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kvtui.live.book import BlockBook
from kvtui.live.standing import Sign
from kvtui.live.times import Point, Series
from kvtui.stats.shape import first_words


class PointList:
    """The points of one block and topology, made anew only where something changed."""

    def __init__(self, *, has_cache: bool) -> None:
        self._has_cache = has_cache
        self._points: dict[str, Point] = {}

    def update(self, book: BlockBook, topology: str) -> tuple[Point, ...]:
        """Take over what changed; all points, in the cached pass's order as far as it has come."""
        changed = book.changed[topology]
        for document in changed:
            self._points[document] = self._point(book, topology, document)
        changed.clear()
        return tuple(sorted(self._points.values(), key=lambda point: (not point.cached_request, point.place)))

    def _point(self, book: BlockBook, topology: str, document: str) -> Point:
        cold = book.cold.requests.get(document)
        cached = book.cached[topology].requests.get(document)
        first = cached or cold
        return Point(
            place=first.place if first else 0,
            document=document,
            cold_request=cold.request_id if cold else "",
            cached_request=cached.request_id if cached else "",
            cold_ms=book.cold.ttft_of(document),
            cached_ms=book.cached[topology].ttft_of(document),
            speedup=book.speedup_of(topology, document),
            verdict=cached.verdict if cached else "",
            sign=cached.sign(has_cache=self._has_cache) if cached else Sign.WAITING,
            early=False,
        )


def anomaly(points: Sequence[Point]) -> tuple[int, str]:
    """How many of the first documents are unlike the rest in their speedup, and a sentence about them."""
    return first_words([point.speedup for point in points if point.speedup is not None])


def series(tier: str, topology: str, documents: int, points: tuple[Point, ...]) -> Series:
    """The series of a tier in one topology, its unlike first points marked."""
    unlike, words = anomaly(points)
    if unlike:
        points = _marked(points, unlike)
    return Series(tier, topology, documents, points, words)


def _marked(points: tuple[Point, ...], unlike: int) -> tuple[Point, ...]:
    marked = []
    for point in points:
        if unlike and point.speedup is not None:
            unlike -= 1
            point = replace(point, early=True)
        marked.append(point)
    return tuple(marked)
