"""What a plan's shared prefix makes of its passes, in words."""

from __future__ import annotations

from kvtui.findings import Finding, Level
from kvtui.fit import expected_reuse
from kvtui.plan import Plan, TierKind


def prefix_findings(plan: Plan) -> tuple[Finding, ...]:
    """The expected reuse of a plan with a prefix; nothing for one without, or without any cache."""
    prefix = plan.corpus.prefix_tokens
    if not prefix or all(tier.kind is TierKind.NONE for tier in plan.tiers):
        return ()
    expected = expected_reuse(plan)
    if not expected.shared_tokens:
        text = (
            f"A prefix of {prefix:,} tokens fills no chunk of {plan.hash.chunk_tokens:,}, so nothing of it "
            "is found again."
        )
        remedy = "Take a longer one, or a smaller chunk_tokens below [hash]."
        return (Finding(Level.WARNING, "prefix-shorter-than-a-chunk", text, remedy, plan.name),)
    text = (
        f"Every request but the first of a pass finds {expected.shared_tokens:,} of its "
        f"{expected.prompt_tokens:,} tokens, the prefix's whole chunks, in any tier that keeps them: "
        f"{expected.cold_share:.0%} of the cold pass. Once stored, it finds {expected.cached_tokens:,}."
    )
    return (Finding(Level.INFO, "prefix-shared", text, "", plan.name),)
