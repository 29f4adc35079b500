"""The documents of one tier in one topology, cold beside cached, in request order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kvtui.attribution import Verdict
from kvtui.samples import Pass, Sample
from kvtui.units import with_repeat


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document in one repeat of the campaign.

    Attributes:
        document: Its id.
        repeat: Which repeat, from 1.
        place: Its place in the order of the cached pass, or of the cold one while that is missing.
        cold: Its cold request.
        cached: Its cached request.
    """

    document: str
    repeat: int
    place: int
    cold: Sample | None
    cached: Sample | None

    @property
    def name(self) -> str:
        """The document, and which repeat it is from the second on."""
        return with_repeat(self.document, self.repeat)

    @property
    def speedup(self) -> float | None:
        """Cold by cached TTFT; ``None`` where a request is missing or failed."""
        cold = self.cold.ttft_ms if self.cold else None
        cached = self.cached.ttft_ms if self.cached else None
        return cold / cached if cold is not None and cached else None

    @property
    def verdict(self) -> Verdict | None:
        """How much of it was reused; ``None`` before its cached request."""
        return self.cached.verdict if self.cached else None


def document_rows(samples: Iterable[Sample], tier: str, topology: str) -> tuple[DocumentRow, ...]:
    """The documents of a tier, repeat by repeat; a fleet that shares a cold pass shows that one.

    Args:
        samples: Samples of each block's last attempt.
        tier: Name of the tier.
        topology: Where its cached pass ran.
    """
    kept = [sample for sample in samples if sample.tier == tier]
    return tuple(
        row
        for repeat in sorted({sample.repeat for sample in kept})
        for row in _of_repeat([sample for sample in kept if sample.repeat == repeat], repeat, topology)
    )


def _of_repeat(kept: Sequence[Sample], repeat: int, topology: str) -> list[DocumentRow]:
    cached = {s.document: s for s in kept if s.step is Pass.CACHED and s.topology == topology}
    blocks = {sample.block for sample in cached.values()} or {
        sample.block for sample in kept if sample.topology == topology
    }
    cold = {s.document: s for s in kept if s.step is Pass.COLD and s.block in blocks}
    rows = []
    for document in dict.fromkeys((*cold, *cached)):
        first = cached.get(document) or cold[document]
        rows.append(DocumentRow(document, repeat, first.place, cold.get(document), cached.get(document)))
    return sorted(rows, key=lambda row: (row.document not in cached, row.place))
