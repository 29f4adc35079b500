"""What the comparison of answers says of a tier, as a line and as findings."""

from __future__ import annotations

from collections.abc import Iterator

from kvtui.answer_check import AnswerCheck
from kvtui.answers import NO_NUMBER
from kvtui.findings import Finding, Level
from kvtui.units import named


def answer_line(check: AnswerCheck) -> str:
    """The check in a sentence without its subject."""
    found = f"largest difference {nats(check.largest)} (tolerance {nats(check.tolerance)}, {check.dtype})"
    if check.noise is not None:
        found += f", {nats(check.noise)} when computed twice"
    if check.blind:
        return f"cannot tell whether reused KV is right: {found}"
    if check.wrong:
        return f"REUSED KV IS WRONG: {check.compared - check.agree} of {check.compared} differ, {found}"
    return f"agree: {check.agree} of {check.compared}, {found}"


def answer_findings(where: str, check: AnswerCheck | None) -> Iterator[Finding]:
    """What a reader must know of a tier's answers."""
    if check is None:
        return
    if check.blind:
        yield Finding(Level.WARNING, "answers-blind", _blind(check), _BLIND_REMEDY, where)
    elif check.wrong:
        yield Finding(Level.BLOCKING, "reused-kv-wrong", _wrong(check), _WRONG_REMEDY, where)


_BLIND_REMEDY = "Take a model whose weights have the scale of trained ones, and documents that differ."
_WRONG_REMEDY = (
    "Believe no figure of this tier. Values were changed in the store, or two models or kinds of KV share "
    "their keys."
)


def _blind(check: AnswerCheck) -> str:
    if check.noise is not None and check.noise > check.tolerance:
        why = f"a prompt that is computed twice has answers that differ by {nats(check.noise)}"
    else:
        why = f"answers to different documents differ by only {nats(check.apart or 0)} (median)"
    return (
        f"Whether the reused KV is right cannot be told: {why}, and a difference of {nats(check.tolerance)} "
        f"in log-probability is rounding ({check.dtype})."
    )


def _wrong(check: AnswerCheck) -> str:
    again = f" Computed twice they differ by {nats(check.noise)}." if check.noise is not None else ""
    return (
        f"The reused KV is wrong: {check.compared - check.agree} of {check.compared} answers differ from the "
        f"computed ones by up to {nats(check.largest)} in log-probability, where rounding makes "
        f"{nats(check.tolerance)} ({check.dtype}): {named(check.wrong)}.{again}"
    )


def nats(value: float) -> str:
    """A difference of log-probabilities."""
    if value >= NO_NUMBER:
        return "no number"
    return "below 0.0001" if 0 < value < 1e-4 else f"{value:.2g}"
