"""The lines of the form, by what is typed: every field of a plan that a person decides on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import get_args

from kvtui.check import TierFit
from kvtui.loglines import clean
from kvtui.plan import Hash, Order, Policy, TierKind
from kvtui.plan_draft import OFF, ON, Draft, TierDraft, hidden_fields, shown_fields
from screens.widgets.plan.parts import (
    Choice,
    Field,
    Line,
    LineKind,
    Part,
    Press,
    Steps,
    Tick,
    fault,
    row,
    section,
)

MODELS, ADD_TIER = "models", "add-tier"
_ALGORITHMS: tuple[str, ...] = get_args(Hash.model_fields["algorithm"].annotation)
_ABOVE = (
    row("Model", Field("model.path", "hub id, or a folder on the nodes")),
    row("", Press(MODELS, "▾ found on nodes")),
    row("Served as", Field("model.served_name")),
    row("KV a token", Field("model.kv_bytes_per_token", "unknown", after="bytes")),
    row("Documents", Field("corpus.documents"), Field("corpus.tokens", before="×", after="tokens")),
    row("Nodes", Tick("lab", "lab of this machine")),
    row("Cold on", Field("passes.cold_node", "node", completes=True), Field("ssh.cold", "user@host", "ssh")),
    row(
        "Cached on",
        Field("passes.cached_node", "node", completes=True),
        Field("ssh.cached", "user@host", "ssh"),
    ),
    row("Store on", Field("store.node", "node", completes=True), Field("ssh.store", "user@host", "ssh")),
    row("  address", Field("store.address"), Field("store.port", before=":")),
    row("Passes", Tick("passes.single", "single"), Tick("passes.fleet", "fleet")),
    section("Tiers"),
)
_BELOW = (
    section("Hash and chunk"),
    row("Algorithm", Choice("hash.algorithm", _ALGORITHMS)),
    row("Hash seed", Field("hash.seed", "empty"), Field("hash.chunk_tokens", before="chunk")),
    row("", Tick("seed.cold.on", "own on {passes.cold_node}"), Field("seed.cold")),
    row("", Tick("seed.cached.on", "own on {passes.cached_node}"), Field("seed.cached")),
    row("", Tick("hash.accept_differing", "run even if keys differ")),
    section("Order and output"),
    row("Repeats", Field("passes.repeats", "1", after="of every tier")),
    row("Cold order", Choice("passes.cold_order", ("shuffled", "listed"))),
    row("Order", Choice("passes.order", tuple(Order)), Field("passes.shuffle_seed", "seed")),
    row("Fleet cold", Choice("passes.fleet_cold", ("own", "shared"))),
    row("Output", Field("engine.output_tokens", after="tokens a request")),
    section("Documents"),
    row("Source", Field("corpus.source", "generated")),
    row("Seed", Field("corpus.seed", "1"), Field("corpus.prefix_tokens", "0", before="prefix")),
    section("Engine"),
    row("Longest", Field("engine.max_model_len", after="tokens")),
    row("dtype", Field("engine.dtype")),
    row("Options", Field("engine.extra_args", "--tensor-parallel-size=2")),
    row("Patience", Field("engine.request_timeout_s", after="s a request")),
    row("Password", Field("store.password_env", "of the store: its variable's name")),
)
_MOST_NAME = 12


def texts_of(draft: Draft) -> Mapping[str, str]:
    """Every text of the draft by its field; a tier's field is ``tiers.KEY.NAME``."""
    texts = dict(draft.values)
    for tier in draft.tiers:
        texts[f"tiers.{tier.key}.{ON}"] = ON if tier.on else OFF
        texts.update((f"tiers.{tier.key}.{name}", text) for name, text in tier.values.items())
    return texts


def lines_of(
    draft: Draft, faults: Mapping[str, str], fits: Mapping[str, TierFit], models: int
) -> Iterator[Line]:
    """The lines that say something while the draft is as it is.

    Args:
        draft: What is typed.
        faults: What is wrong with it, by field.
        fits: What is known of the tiers in the plan, by name.
        models: How many models were found on nodes.
    """
    hidden = hidden_fields(draft) | (frozenset() if models else {MODELS})
    yield from _shown(_ABOVE, draft, faults, hidden)
    for tier in draft.tiers:
        yield from _tier(tier, faults, fits.get(tier.values["name"]) if tier.on else None)
    if "tiers" in faults:
        yield fault("switch a tier on, or add one")
    yield Line("", (Press(ADD_TIER, "+ Add a tier"),), indent=0)
    yield from _shown(_BELOW, draft, faults, hidden)


def _shown(
    lines: Iterable[Line], draft: Draft, faults: Mapping[str, str], hidden: frozenset[str]
) -> Iterator[Line]:
    for line in lines:
        parts = tuple(_named(part, draft) for part in line.parts if part.name not in hidden)
        if parts or line.kind is LineKind.SECTION:
            yield replace(line, parts=parts)
            yield from _faults(parts, faults)


def _named(part: Part, draft: Draft) -> Part:
    """A label with what it speaks of."""
    if not isinstance(part, Tick) or "{" not in part.label:
        return part
    words, _, name = part.label.rstrip("}").partition("{")
    return replace(part, label=words + clean(draft.values[name])[:_MOST_NAME])


def _faults(parts: Iterable[Part], faults: Mapping[str, str]) -> Iterator[Line]:
    return (fault(clean(faults[part.name])) for part in parts if part.name in faults)


def _tier(tier: TierDraft, faults: Mapping[str, str], fit: TierFit | None) -> Iterator[Line]:
    """A tier: on or off, its name and how large it is; then what it is, and where."""
    place = f"tiers.{tier.key}"
    limit = fit.limit_gib if fit else None
    size = "GiB" if limit is None or fit is None else f"of {limit:,.4g} GiB · {clean(fit.limit_of)}"
    steps = Steps(fit.smallest_gib if fit else None, limit)
    known: dict[str, Part] = {
        "name": Field(f"{place}.name", width=_MOST_NAME),
        "capacity_gib": Field(f"{place}.capacity_gib", after=size, width=9, steps=steps),
        "kind": Choice(f"{place}.kind", tuple(TierKind), width=9),
        "path": Field(f"{place}.path", "folder on each node"),
        "workers": Field(f"{place}.workers", before="workers", width=3),
        "policy": Choice(f"{place}.policy", tuple(Policy), width=7),
    }
    shown = shown_fields(tier.kind)
    first, second = (
        tuple(known[name] for name in names if name in shown)
        for names in (("name", "capacity_gib"), ("kind", "path", "workers", "policy"))
    )
    kind = LineKind.ROW if tier.on else LineKind.OFF
    yield Line("", (Tick(f"{place}.{ON}"), *first), kind, indent=0)
    yield Line("", (*second, Press(f"{place}.remove", "✗ remove")), kind, indent=4)
    if tier.on:
        yield from _faults((*first, *second), faults)
