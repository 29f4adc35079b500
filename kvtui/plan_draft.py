"""A plan while it is being typed: texts by field, what is wrong with each, and the plan once nothing is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from kvtui.draft_faults import CACHED, COLD, STORE, faults_of
from kvtui.draft_numbers import fraction, whole
from kvtui.plan import Node, Order, Plan, Tier, TierKind

ON, OFF = "on", ""
UNSET = "unset"
ROLES = ("cold", "cached", "store")
_TEXTS = (
    "model.path",
    "model.served_name",
    "passes.cold_node",
    "passes.cached_node",
    "passes.fleet_cold",
    "passes.order",
    "passes.cold_order",
    "hash.algorithm",
    "engine.dtype",
)
_WHOLES = (
    "corpus.documents",
    "corpus.tokens",
    "corpus.seed",
    "corpus.prefix_tokens",
    "passes.shuffle_seed",
    "passes.repeats",
    "hash.chunk_tokens",
    "engine.max_model_len",
    "engine.output_tokens",
)
_TOPOLOGIES = ("single", "fleet")
TIER_FIELDS = ("name", "kind", "capacity_gib", "path", "workers", "policy")


@dataclass(frozen=True, slots=True)
class TierDraft:
    """A tier as typed.

    Attributes:
        key: Which tier of the form it is, whatever its name becomes.
        on: Whether it is in the plan.
        values: Its texts by field; those of other kinds are kept, should the kind come back.
    """

    key: int
    on: bool
    values: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Its kind, as chosen."""
        return self.values["kind"]


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything that the form holds.

    Attributes:
        base: The plan that it began as; it has what the form does not show.
        values: Text by field; what is switched on or off is ``on`` or empty.
        tiers: The tiers, in order.
        nodes: Nodes that are known by name, for a node that the plan does not describe yet.
    """

    base: Plan
    values: Mapping[str, str]
    tiers: tuple[TierDraft, ...]
    nodes: Mapping[str, Node] = field(default_factory=dict)

    def put(self, name: str, text: str) -> Draft:
        """The draft with another text; a node that is known brings its way along."""
        values = {**self.values, name: text}
        role = {"passes.cold_node": "cold", "passes.cached_node": "cached", "store.node": "store"}.get(name)
        if role is not None:
            values[f"ssh.{role}"] = _ssh(self.base, self.nodes, text)
        return replace(self, values=values)

    def put_tier(self, key: int, name: str, text: str) -> Draft:
        """The draft with another text of a tier; the field ``on`` switches it."""

        def changed(tier: TierDraft) -> TierDraft:
            if name == ON:
                return replace(tier, on=text == ON)
            return replace(tier, values={**tier.values, name: text})

        return replace(self, tiers=tuple(changed(tier) if tier.key == key else tier for tier in self.tiers))

    def add_tier(self) -> Draft:
        """The draft with one more tier, DRAM of a gibibyte, under a name that is free."""
        taken = {tier.values["name"] for tier in self.tiers}
        name = next(name for number in range(1, len(taken) + 2) if (name := f"tier-{number}") not in taken)
        tier = Tier(name=name, kind=TierKind.DRAM, capacity_gib=1)
        key = max((tier.key for tier in self.tiers), default=-1) + 1
        return replace(self, tiers=(*self.tiers, TierDraft(key, True, _tier_texts(tier))))

    def remove_tier(self, key: int) -> Draft:
        """The draft without a tier."""
        return replace(self, tiers=tuple(tier for tier in self.tiers if tier.key != key))

    def with_plan(self, plan: Plan) -> Draft:
        """The draft of a changed plan; tiers that are off stay where they are."""
        new, coming = draft_of(plan, self.nodes), list(plan.tiers)
        tiers = []
        for tier in self.tiers:
            if not tier.on:
                tiers.append(tier)
            elif coming:
                tiers.append(replace(tier, values={**tier.values, **_own_texts(coming.pop(0))}))
        key = max((tier.key for tier in tiers), default=-1) + 1
        tiers += [TierDraft(key + at, True, _tier_texts(tier)) for at, tier in enumerate(coming)]
        return replace(new, tiers=tuple(tiers))


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a draft.

    Attributes:
        plan: The plan, if nothing is wrong.
        faults: What is wrong, by field; a tier's field is ``tiers.KEY.NAME``.
    """

    plan: Plan | None
    faults: Mapping[str, str]


def draft_of(plan: Plan, nodes: Mapping[str, Node] | None = None) -> Draft:
    """The texts that a plan is made of."""
    known = dict(nodes or {})
    data = plan.model_dump(mode="json")
    values = {name: _text(_at(data, name)) for name in (*_TEXTS, *_WHOLES)}
    values["model.kv_bytes_per_token"] = _text(plan.model.kv_bytes_per_token)
    values["corpus.source"] = _text(plan.corpus.source)
    values["engine.extra_args"] = shlex.join(plan.engine.extra_args)
    values["engine.request_timeout_s"] = _number(plan.engine.request_timeout_s)
    values["lab"] = ON if plan.lab else OFF
    values["hash.accept_differing"] = ON if plan.hash.accept_differing else OFF
    for topology in _TOPOLOGIES:
        values[f"passes.{topology}"] = ON if topology in data["passes"]["topologies"] else OFF
    values["hash.seed"] = UNSET if plan.hash.seed is None else plan.hash.seed
    for role, node in (("cold", plan.passes.cold_node), ("cached", plan.passes.cached_node)):
        own = node in plan.hash.seed_on
        seed = plan.hash.seed_for(node)
        values[f"seed.{role}.on"] = ON if own else OFF
        values[f"seed.{role}"] = UNSET if seed is None else seed
        values[f"ssh.{role}"] = _ssh(plan, known, node)
    store = plan.store
    values["store.node"] = store.node if store else ""
    values["store.address"] = store.address if store else "127.0.0.1"
    values["store.port"] = str(store.port) if store else "6379"
    values["store.password_env"] = _text(store.password_env) if store else ""
    values["ssh.store"] = _ssh(plan, known, values["store.node"])
    tiers = tuple(TierDraft(key, True, _tier_texts(tier)) for key, tier in enumerate(plan.tiers))
    return Draft(plan, values, tiers, known)


def check(draft: Draft) -> Checked:
    """The plan of a draft, or what is wrong with it, field by field. Never raises."""
    early = dict(_early_faults(draft))
    try:
        data = _data(draft)
        plan = Plan.model_validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        on = [tier.key for tier in draft.tiers if tier.on]
        found = faults_of(error, on, draft.values)
        said = {name.rpartition(".")[0] for name in early if name.startswith("tiers.")}
        rest = {name: fault for name, fault in found.items() if name not in said and (name or not early)}
        return Checked(None, {**rest, **early})
    except (ValueError, RecursionError) as error:
        return Checked(None, early or {"": str(error)})
    return Checked(None, early) if early else Checked(plan, {})


def _early_faults(draft: Draft) -> Iterator[tuple[str, str]]:
    """What only the texts show, or what is better said of one field than of the whole plan."""
    try:
        shlex.split(draft.values["engine.extra_args"])
    except ValueError:
        yield "engine.extra_args", "a quote is not closed"
    on = [tier for tier in draft.tiers if tier.on]
    if not on:
        yield "tiers", "switch a tier on, or add one"
    if not any(draft.values[f"passes.{topology}"] for topology in _TOPOLOGIES):
        yield "passes.single", "choose single, fleet or both"
    names = [tier.values["name"] for tier in on]
    for tier in on:
        place = f"tiers.{tier.key}"
        if names.count(tier.values["name"]) > 1:
            yield f"{place}.name", "another tier has this name"
        if tier.kind != TierKind.NONE and not tier.values["capacity_gib"].strip():
            yield f"{place}.capacity_gib", "how many GiB it has"
        if tier.kind == TierKind.DISK and not tier.values["path"]:
            yield f"{place}.path", "a folder on each node"


def _data(draft: Draft) -> dict[str, Any]:
    """The draft as the values of a plan; what is no number stays a text, to be refused."""
    values = draft.values
    data = draft.base.model_dump(mode="json")
    for name in _TEXTS:
        _put(data, name, values[name])
    for name in _WHOLES:
        _put(data, name, whole(values[name]))
    _put(data, "model.kv_bytes_per_token", whole(values["model.kv_bytes_per_token"], empty=None))
    _put(data, "corpus.source", values["corpus.source"] or None)
    _put(data, "engine.extra_args", _words(values["engine.extra_args"]))
    _put(data, "engine.request_timeout_s", fraction(values["engine.request_timeout_s"]))
    _put(data, "lab", values["lab"] == ON)
    _put(data, "hash.accept_differing", values["hash.accept_differing"] == ON)
    _put(data, "passes.topologies", [one for one in _TOPOLOGIES if values[f"passes.{one}"]])
    _put(data, "hash.seed", values["hash.seed"])
    data["hash"]["seed_on"] = _seeds(draft)
    data["store"] = _store(values)
    data["nodes"] = _nodes(draft)
    data["tiers"] = [_tier_data(tier) for tier in draft.tiers if tier.on]
    return data


def _seeds(draft: Draft) -> dict[str, str | None]:
    shown = {draft.base.passes.cold_node, draft.base.passes.cached_node}
    seeds = {node: seed for node, seed in draft.base.hash.seed_on.items() if node not in shown}
    for role in ("cold", "cached"):
        if draft.values[f"seed.{role}.on"]:
            seeds[draft.values[f"passes.{role}_node"]] = draft.values[f"seed.{role}"]
    return seeds


def _store(values: Mapping[str, str]) -> dict[str, Any] | None:
    if not values["store.node"]:
        return None
    return {
        "node": values["store.node"],
        "address": values["store.address"],
        "port": whole(values["store.port"]),
        "password_env": values["store.password_env"] or None,
    }


def _nodes(draft: Draft) -> dict[str, Any]:
    """The plan's nodes, and those that it names now and that are known or have a way typed."""
    values = draft.values
    nodes: dict[str, Any] = {name: node.model_dump(mode="json") for name, node in draft.base.nodes.items()}
    if values["lab"]:
        return nodes
    for role, name in roles(draft):
        ssh = values[f"ssh.{role}"]
        known = draft.base.nodes.get(name) or draft.nodes.get(name)
        if name and (ssh or name in nodes):
            nodes[name] = {**(known.model_dump(mode="json") if known else {}), "ssh": ssh}
    return nodes


def roles(draft: Draft) -> tuple[tuple[str, str], ...]:
    """The nodes that the plan uses now, with their first role."""
    values = draft.values
    named = [("cold", values[COLD])]
    if values["passes.fleet"]:
        named.append(("cached", values["passes.cached_node"]))
    if values[STORE] and any(tier.on and tier.kind == TierKind.VALKEY for tier in draft.tiers):
        named.append(("store", values[STORE]))
    seen: dict[str, str] = {}
    for role, name in named:
        seen.setdefault(name, role)
    return tuple((role, name) for name, role in seen.items())


def _ssh(plan: Plan, nodes: Mapping[str, Node], name: str) -> str:
    node = plan.nodes.get(name) or nodes.get(name)
    return node.ssh if node else ""


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _at(data: Mapping[str, Any], name: str) -> Any:
    part, _, inner = name.partition(".")
    return data[part][inner]


def _put(data: dict[str, Any], name: str, value: Any) -> None:
    part, dot, inner = name.partition(".")
    if dot:
        data[part][inner] = value
    else:
        data[part] = value


def _tier_texts(tier: Tier) -> dict[str, str]:
    return {
        "name": tier.name,
        "kind": str(tier.kind),
        "capacity_gib": "" if tier.capacity_gib is None else _number(tier.capacity_gib),
        "path": tier.path or "",
        "workers": str(tier.workers),
        "policy": str(tier.policy),
    }


def _own_texts(tier: Tier) -> dict[str, str]:
    """The texts of the fields that a tier of its kind has."""
    return {name: text for name, text in _tier_texts(tier).items() if name in shown_fields(tier.kind)}


def shown_fields(kind: str) -> tuple[str, ...]:
    """Fields that a tier of this kind has."""
    return {
        TierKind.NONE: ("name", "kind"),
        TierKind.DRAM: ("name", "kind", "capacity_gib", "policy"),
        TierKind.DISK: ("name", "kind", "capacity_gib", "path", "policy"),
        TierKind.VALKEY: ("name", "kind", "capacity_gib", "workers"),
    }[TierKind(kind)]


_TIER_VALUES: dict[str, Callable[[str], Any]] = {
    "capacity_gib": lambda text: fraction(text, empty=None),
    "workers": whole,
    "path": lambda text: text or None,
}


def _tier_data(tier: TierDraft) -> dict[str, Any]:
    return {name: _TIER_VALUES.get(name, str)(tier.values[name]) for name in shown_fields(tier.kind)}


def hidden_fields(draft: Draft) -> frozenset[str]:
    """Fields that say nothing while the others are as they are."""
    values = draft.values
    hidden = set()
    if values["lab"]:
        hidden |= {COLD, CACHED, STORE, "store.address", "store.port", "store.password_env"}
    if not any(tier.on and tier.kind == TierKind.VALKEY for tier in draft.tiers):
        hidden |= {STORE, "store.address", "store.port", "store.password_env"}
    if not values["passes.fleet"]:
        hidden |= {CACHED, "passes.fleet_cold", "seed.cached.on", "hash.accept_differing"}
    if not (values["passes.fleet"] and values["passes.single"]):
        hidden.add("passes.fleet_cold")
    if Order.SHUFFLED not in (values["passes.order"], values["passes.cold_order"]):
        hidden.add("passes.shuffle_seed")
    hidden |= {f"seed.{role}" for role in ("cold", "cached") if not values[f"seed.{role}.on"]}
    if "seed.cached.on" in hidden:
        hidden.add("seed.cached")
    used = () if values["lab"] else [role for role, _ in roles(draft)]
    return frozenset(hidden | {f"ssh.{role}" for role in ROLES if role not in used})
