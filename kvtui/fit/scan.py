"""What is asked of a tier: the documents of a run, in order, pass by pass."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from kvtui.engine_options import DEFAULT_STEP_TOKENS
from kvtui.plan import Order

# Before the measured passes an engine gets so many documents to warm up with, and so many, each twice, to
# prove that the tier gives back what it was given.
WARMUP_DOCUMENTS = 2
GATE_DOCUMENTS = 2


@dataclass(frozen=True, slots=True)
class Scan:
    """One cold pass over the documents, then cached passes.

    Attributes:
        documents: How many; all of one length, none shares a chunk with another beside the prefix.
        tokens: Length of a request, the prefix included.
        chunk_tokens: LMCache's ``chunk_size``.
        passes: The cold pass and the cached ones.
        order: Order of the cached passes.
        seed: Seed of the shuffle.
        step_tokens: Most tokens that the engine computes, and then stores, at once.
        earlier: Other documents of the same length that the same engine served before, as often as it did;
            they have no prefix.
        prefix_tokens: Tokens with which every document begins.
        cold_shuffled: Whether the cold pass asks for the documents in an order of the seed, not as listed.
        repeat: Which repeat of the campaign; each has a cold order of its own.
    """

    documents: int
    tokens: int
    chunk_tokens: int
    passes: int = 2
    order: Order = Order.SAME
    seed: int = 0
    step_tokens: int = DEFAULT_STEP_TOKENS
    earlier: tuple[str, ...] = ()
    prefix_tokens: int = 0
    cold_shuffled: bool = False
    repeat: int = 1

    @property
    def chunks(self) -> int:
        """Whole chunks a document; LMCache stores no others."""
        return self.tokens // self.chunk_tokens

    @property
    def shared_chunks(self) -> int:
        """Whole chunks of the prefix, which all documents have in common."""
        return min(self.prefix_tokens // self.chunk_tokens, self.chunks)

    @property
    def working_chunks(self) -> int:
        """Different chunks of all documents."""
        return self.shared_chunks + self.documents * (self.chunks - self.shared_chunks)

    def fitting(self, chunks: int) -> int:
        """How many documents are whole, at most, when so many chunks are kept."""
        own = self.chunks - self.shared_chunks
        if self.chunks == 0 or chunks < self.shared_chunks:
            return 0
        return self.documents if own == 0 else min(self.documents, (chunks - self.shared_chunks) // own)

    def batches(self, have: int) -> Iterator[range]:
        """The chunks that each step of the engine stores, when it has the first ``have`` of them.

        A step stores the chunks that are whole at its end (LMCache 0.5.4
        ``integration/vllm/vllm_v1_adapter.py``).
        """
        computed = have * self.chunk_tokens
        while computed < self.tokens:
            computed = min(computed + self.step_tokens, self.tokens)
            whole = computed // self.chunk_tokens
            if whole > have:
                yield range(have, whole)
                have = whole


def pass_order(scan: Scan, number: int) -> tuple[int, ...]:
    """Numbers of the documents in the order of a pass; pass 0 is the cold one.

    The order of a cached pass is that of the cold one, its reverse, or a shuffle of it. That shuffle is the
    same in every repeat, so what a tier that is too small still holds is the same in every repeat too.
    """
    documents = list(range(scan.documents))
    if scan.cold_shuffled:
        _dice(f"{scan.seed}/cold/{scan.repeat}").shuffle(documents)
    if number > 0 and scan.order is Order.REVERSED:
        documents.reverse()
    if number > 0 and scan.order is Order.SHUFFLED:
        _dice(f"{scan.seed}/{number}").shuffle(documents)
    return tuple(documents)


def _dice(seed: str) -> random.Random:
    return random.Random(seed)  # noqa: S311 - an order, not a secret


def run_earlier(*, gated: bool) -> tuple[str, ...]:
    """What an engine of a run has served before its cold pass."""
    warmup = [f"warmup-{number}" for number in range(WARMUP_DOCUMENTS)]
    gate = [f"gate-{number}" for number in range(GATE_DOCUMENTS)] if gated else []
    return (*warmup, *gate, *gate)
