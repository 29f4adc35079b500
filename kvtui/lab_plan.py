"""A plan for other machines, scaled so that the lab can run it."""

from __future__ import annotations

from kvtui.errors import PlanError
from kvtui.plan import Corpus, Engine, Model, Plan, Tier, TierKind

# What a CPU engine of the lab needs beside the model; the engine itself keeps 32,768 tokens of KV.
LAB_ENGINE_ARGS = (
    "--enforce-eager",
    "--max-num-seqs=4",
    "--max-num-batched-tokens=2048",
    "--kv-cache-memory-bytes=268435456",
)
LAB_DISK_PATH = "~/kv"


def _scaled(tier: Tier, factor: float) -> Tier:
    if tier.capacity_gib is None:
        return tier
    path = LAB_DISK_PATH if tier.kind is TierKind.DISK else None
    return tier.model_copy(update={"capacity_gib": round(tier.capacity_gib * factor, 4), "path": path})


def for_lab(plan: Plan, served_name: str, kv_bytes_per_token: int) -> Plan:
    """The same plan on the lab: its model and nodes, and capacities in proportion to its smaller KV.

    Documents, passes, tiers and the hash stay as they are, so what fits and what does not stays as it is.

    Args:
        plan: The plan.
        served_name: Name of the lab's model.
        kv_bytes_per_token: Bytes of KV a token of the lab's model.

    Raises:
        PlanError: The plan does not say how large its own model's KV is.
    """
    if plan.lab:
        return plan
    own = plan.model.kv_bytes_per_token
    if own is None:
        raise PlanError(
            f"Plan {plan.name} cannot be scaled to the lab: the KV size of {plan.model.path} is not in it.",
            "Add kv_bytes_per_token below [model]; kvtui size tells it from a config.json.",
        )
    factor = kv_bytes_per_token / own
    engine = Engine(
        dtype="float32",
        max_model_len=plan.engine.max_model_len,
        output_tokens=plan.engine.output_tokens,
        extra_args=LAB_ENGINE_ARGS,
        request_timeout_s=plan.engine.request_timeout_s,
        lease_min=plan.engine.lease_min,
    )
    note = (
        f"Run on the lab: {served_name} on CPU instead of {plan.model.path}, capacities scaled by "
        f"{factor:.4g} with its KV size ({kv_bytes_per_token:,} of {own:,} bytes a token)."
    )
    return Plan(
        name=plan.name,
        lab=True,
        notes=(*plan.notes, note),
        model=Model(path=served_name, served_name=served_name, kv_bytes_per_token=kv_bytes_per_token),
        corpus=Corpus(**plan.corpus.model_dump()),
        engine=engine,
        hash=plan.hash,
        passes=plan.passes,
        tiers=tuple(_scaled(tier, factor) for tier in plan.tiers),
    )
