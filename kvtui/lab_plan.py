"""A plan as the lab can run it: its model, its engines, its nodes, and capacities scaled to its KV."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.errors import PlanError
from kvtui.plan import Engine, Model, Plan, Tier, TierKind

LAB_DISK_PATH = "~/kv"
LAB_ENGINE_NODES = ("gpu-a", "gpu-b")


@dataclass(frozen=True, slots=True)
class LabEngine:
    """What the lab serves, and how.

    Attributes:
        served_name: Name of its model.
        kv_bytes_per_token: Bytes of KV a token of that model.
        dtype: vLLM's ``--dtype`` there.
        arguments: What its engines need beside the common arguments.
    """

    served_name: str
    kv_bytes_per_token: int
    dtype: str
    arguments: tuple[str, ...]


def _engine(engine: Engine, lab: LabEngine, own: tuple[str, ...]) -> Engine:
    return engine.model_copy(update={"dtype": lab.dtype, "extra_args": (*lab.arguments, *own)})


def _scaled(tier: Tier, factor: float) -> Tier:
    if tier.capacity_gib is None:
        return tier
    path = LAB_DISK_PATH if tier.kind is TierKind.DISK else None
    return tier.model_copy(update={"capacity_gib": round(tier.capacity_gib * factor, 4), "path": path})


def for_lab(plan: Plan, lab: LabEngine) -> Plan:
    """The plan on the lab.

    A plan for the lab gets the arguments that its engines need. One for other machines also gets its model,
    and capacities in proportion to that model's smaller KV; documents, passes, tiers and the hash stay as
    they are, so what fits and what does not stays as it is.

    Raises:
        PlanError: The plan is for other machines and does not say how large its own model's KV is.
    """
    if plan.lab:
        return plan.model_copy(update={"engine": _engine(plan.engine, lab, plan.engine.extra_args)})
    own = plan.model.kv_bytes_per_token
    if own is None:
        raise PlanError(
            f"Plan {plan.name} cannot be scaled to the lab: the KV size of {plan.model.path} is not in it.",
            "Add kv_bytes_per_token below [model]; kvtui size tells it from a config.json.",
        )
    factor = lab.kv_bytes_per_token / own
    note = (
        f"Run on the lab: {lab.served_name} on CPU instead of {plan.model.path}, capacities scaled by "
        f"{factor:.4g} with its KV size ({lab.kv_bytes_per_token:,} of {own:,} bytes a token)."
    )
    return plan.model_copy(
        update={
            "lab": True,
            "notes": (*plan.notes, note),
            "model": Model(
                path=lab.served_name, served_name=lab.served_name, kv_bytes_per_token=lab.kv_bytes_per_token
            ),
            "engine": _engine(plan.engine, lab, ()),
            "nodes": {},
            "store": None,
            "tiers": tuple(_scaled(tier, factor) for tier in plan.tiers),
        }
    )
