"""Whether reused KV is right: the answers of a cached pass beside those of the cold pass before it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from kvtui.answers import NO_NUMBER, difference
from kvtui.attribution import Verdict
from kvtui.samples import Sample
from kvtui.tier_samples import TierSamples

TOLERANCES = {"float32": 0.001, "float16": 0.06, "bfloat16": 0.5}
"""Largest difference of log-probabilities, in nats, that rounding may make; by the type computed in.

Calibrated on verified hits of vLLM 0.28.0 and LMCache 0.5.4 on CPU, models with random weights and 4 and 24
layers, 8 hits of each (``docs/answer-tolerances.md``, ``make answers``): rounding made at most 0.000061 in
float32, 0.030 in float16 and 0.21 in bfloat16, most in the deep one. Zeroed values make 0.064 to 2.1: in
float32 at least sixty times the tolerance, in float16 four times, in bfloat16 one in eight stays below it.
Where both compute the same pieces, answers do not differ at all.
"""
_SAME_TYPE = {"float": "float32", "half": "float16"}


def dtype_of(dtype: str, size_bytes: int | None) -> str:
    """The type that an engine computes in.

    Args:
        dtype: vLLM's ``--dtype``; with ``auto`` it is the model's.
        size_bytes: Bytes of a number of the KV, which tells float32 from the others; ``None`` if not known.

    Returns:
        ``bfloat16``, whose tolerance is the widest, where it is not certain.
    """
    known = _SAME_TYPE.get(dtype, dtype)
    if known in TOLERANCES:
        return known
    return "float32" if size_bytes == 4 else "bfloat16"


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """What a tier's answers say of its KV.

    Attributes:
        compared: Cached requests that reused KV, whose cold ones computed, with both answers known.
        agree: How many of these answers differ by no more than the tolerance.
        wrong: The documents of the others, the one that differs most first.
        largest: The largest difference, in nats.
        tolerance: The largest that rounding may make.
        dtype: The type that the tolerance is for.
        noise: The largest difference between two computed answers to one prompt; ``None`` where no tier
            without a cache was measured.
        apart: Median difference between answers to different documents; ``None`` for one document.
        blind: Whether the answers cannot tell right KV from wrong.
    """

    compared: int
    agree: int
    wrong: tuple[str, ...]
    largest: float
    tolerance: float
    dtype: str
    noise: float | None
    apart: float | None
    blind: bool

    @property
    def shows_wrong(self) -> bool:
        """Whether it shows that reused KV is wrong."""
        return bool(self.wrong) and not self.blind


def check_answers(tier: TierSamples, dtype: str, noise: float | None) -> AnswerCheck | None:
    """Compare a tier's cached answers with its cold ones; ``None`` where none can be compared.

    Args:
        tier: Its samples.
        dtype: The type that the engines compute in, one of :data:`TOLERANCES`.
        noise: What :func:`noise_of` says of the engines.
    """
    reusing = [sample for sample in tier.cached if sample.verdict in (Verdict.FULL, Verdict.PARTIAL)]
    found = differences(tier.cold, reusing)
    if not found:
        return None
    tolerance, apart = TOLERANCES[dtype], apart_of(tier.cold)
    order = sorted(found, key=lambda one: -one[1])
    wrong = tuple(dict.fromkeys(document for document, size in order if size > tolerance))
    noisy = noise is not None and noise > tolerance
    return AnswerCheck(
        compared=len(found),
        agree=sum(size <= tolerance for _, size in found),
        wrong=wrong,
        largest=order[0][1],
        tolerance=tolerance,
        dtype=dtype,
        noise=noise,
        apart=apart,
        blind=noisy or (not wrong and apart is not None and apart <= tolerance),
    )


def check_all(
    tiers: Sequence[TierSamples], dtype: str, size_bytes: int | None
) -> tuple[AnswerCheck | None, ...]:
    """The check of each tier in its topology; the arguments are those of :func:`dtype_of`."""
    found = dtype_of(dtype, size_bytes)
    noise = {
        topology: noise_of(tier for tier in tiers if tier.topology is topology)
        for topology in {tier.topology for tier in tiers}
    }
    return tuple(check_answers(tier, found, noise[tier.topology]) for tier in tiers)


def noise_of(tiers: Iterable[TierSamples]) -> float | None:
    """The largest difference between answers to one prompt that were both computed; ``None`` without any.

    Args:
        tiers: Tiers of one topology: one without a cache computes everything twice, others what they miss.
    """
    found = [
        size
        for tier in tiers
        for _, size in differences(tier.cold, [one for one in tier.cached if one.reused_tokens == 0])
    ]
    return max(found, default=None)


def differences(cold: Iterable[Sample], cached: Iterable[Sample]) -> list[tuple[str, float]]:
    """Documents and how far their answers are from the computed ones of the same repeat, in nats.

    Args:
        cold: Samples of cold passes; those that were not cold are left out.
        cached: What is held against them.
    """
    computed = {
        (sample.repeat, sample.document): sample.answer
        for sample in cold
        if sample.reused_tokens is not None and sample.is_cold
    }
    found = []
    for sample in cached:
        reference = computed.get((sample.repeat, sample.document))
        if reference is None or sample.answer is None:
            continue
        size = difference(reference, sample.answer)
        if size is not None:
            found.append((sample.document, size))
    return found


def apart_of(cold: Iterable[Sample]) -> float | None:
    """Median difference between answers to documents that follow each other; ``None`` for one document."""
    answers = {sample.document: sample.answer for sample in cold if sample.answer is not None}
    sizes = [difference(one, other) for one, other in pairwise(answers.values())]
    return median([NO_NUMBER if size is None else size for size in sizes]) if sizes else None
