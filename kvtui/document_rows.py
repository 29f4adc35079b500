"""The documents of one tier in one topology, cold beside cached, in request order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kvtui.attribution import Verdict
from kvtui.samples import Pass, Sample


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document.

    Attributes:
        document: Its id.
        place: Its place in the order of the cached pass, or of the cold one while that is missing.
        cold: Its cold request.
        cached: Its cached request.
    """

    document: str
    place: int
    cold: Sample | None
    cached: Sample | None

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
    """The documents of a tier; a fleet that shares the single node's cold pass shows that one.

    Args:
        samples: Samples of each block's last attempt.
        tier: Name of the tier.
        topology: Where its cached pass ran.
    """
    kept = [sample for sample in samples if sample.tier == tier]
    cached = {s.document: s for s in kept if s.step is Pass.CACHED and s.topology == topology}
    blocks = {sample.block for sample in cached.values()} or {
        sample.block for sample in kept if sample.topology == topology
    }
    cold = {s.document: s for s in kept if s.step is Pass.COLD and s.block in blocks}
    rows = []
    for document in dict.fromkeys((*cold, *cached)):
        first = cached.get(document) or cold[document]
        rows.append(DocumentRow(document, first.place, cold.get(document), cached.get(document)))
    return tuple(sorted(rows, key=lambda row: (row.document not in cached, row.place)))
