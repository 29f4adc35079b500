"""A plan judged by all that is known: one pure function, fast enough for every keystroke."""

from __future__ import annotations

from kvtui.check.assessment import Assessment, Forecast, KvFigures
from kvtui.check.fit_check import fit_findings, tier_fit
from kvtui.check.forecast import forecast, forecast_findings
from kvtui.check.known import Known
from kvtui.check.prefix import prefix_findings
from kvtui.check.recommend import recommend
from kvtui.check.sharing import asked, sharing_findings, sharing_table
from kvtui.check.sizes import kv_figures, shape_of
from kvtui.engine_options import named, step_tokens
from kvtui.errors import PlanError
from kvtui.findings import Finding, Level
from kvtui.kvsize import KvShape
from kvtui.lab_plan import LAB_ENGINE_NODES
from kvtui.plan import Plan, TierKind
from kvtui.store_findings import store_findings

# What kvtui puts on the engine's command line itself, or what would make a hit another's than LMCache's.
_TAKEN = (
    "--model",
    "--served-model-name",
    "--host",
    "--port",
    "--max-model-len",
    "--kv-transfer-config",
    "--enable-prefix-caching",
)
# LMCache that stores and never finds again.
_BROKEN_LMCACHE = frozenset({"0.3.7"})


def assess(plan: Plan, known: Known) -> Assessment:
    """Everything that can be said of a plan before its launch.

    Never raises for a plan that validates: what cannot be reckoned becomes a finding.
    """
    try:
        return _assess(plan, known)
    except PlanError as error:
        text, remedy = error.message, error.hint or "Mend extra_args below [engine]."
        finding = Finding(Level.BLOCKING, "engine-option", text, remedy, plan.name)
        empty = Forecast((), None, "the plan cannot be reckoned", None, "the plan cannot be reckoned")
        return Assessment(None, (), None, empty, recommend(plan, known, None, (), empty), (finding,))


def _assess(plan: Plan, known: Known) -> Assessment:
    step_tokens(plan.engine.extra_args)
    sized = shape_of(plan, known)
    shape = sized[0] if sized else None
    kv = kv_figures(plan, *sized) if sized else None
    fits = tuple(tier_fit(plan, tier, shape, known) for tier in plan.tiers)
    sharing = sharing_table(plan, known) if asked(plan) else None
    found = forecast(plan, known, kv, fits)
    findings = [
        *_plan_findings(plan, kv),
        *prefix_findings(plan),
        *(finding for fit in fits for finding in fit_findings(plan, fit, shape, known)),
        *sharing_findings(plan, known, sharing),
        *_version_findings(plan, known),
        *_store(plan, known, shape, kv),
        *forecast_findings(found, fits),
        *known.faults,
    ]
    return Assessment(
        kv=kv,
        fits=fits,
        sharing=sharing,
        forecast=found,
        recommendation=recommend(plan, known, kv, fits, found),
        findings=tuple(sorted(findings, key=lambda finding: list(Level).index(finding.level))),
    )


def _plan_findings(plan: Plan, kv: KvFigures | None) -> list[Finding]:
    found = []
    cached = any(tier.kind is not TierKind.NONE for tier in plan.tiers)
    taken = named(plan.engine.extra_args, _TAKEN)
    if taken:
        text = f"extra_args sets {', '.join(taken)}, which kvtui sets itself or which blurs the result."
        found.append(Finding(Level.BLOCKING, "engine-option-taken", text, "Take it out.", plan.name))
    strangers = [node for node in plan.engine_nodes if node not in LAB_ENGINE_NODES]
    if plan.lab and strangers:
        text = f"The lab has no engine node {', '.join(strangers)}."
        remedy = f"Name {' and '.join(LAB_ENGINE_NODES)} below [passes]."
        found.append(Finding(Level.BLOCKING, "no-such-lab-node", text, remedy, plan.name))
    if kv is None and cached:
        text = f"The KV size of {plan.model.path} is not known, so nobody can tell what fits."
        remedy = "Add kv_bytes_per_token below [model]; kvtui size tells it from a config.json."
        found.append(Finding(Level.WARNING, "kv-size-unknown", text, remedy, plan.name))
    if cached and plan.corpus.prompt_tokens < plan.hash.chunk_tokens:
        text = (
            f"Documents of {plan.corpus.prompt_tokens:,} tokens are shorter than a chunk of "
            f"{plan.hash.chunk_tokens:,}, so LMCache stores nothing and finds nothing."
        )
        remedy = "Take longer documents, or a smaller chunk_tokens below [hash]."
        found.append(Finding(Level.WARNING, "shorter-than-a-chunk", text, remedy, plan.name))
    return found


def _version_findings(plan: Plan, known: Known) -> list[Finding]:
    found = []
    for node in plan.engine_nodes:
        facts = known.facts.get(node)
        version = facts.versions.get("lmcache") if facts else None
        if version in _BROKEN_LMCACHE:
            text = f"LMCache {version} on {node} is known to find nothing of what it stored."
            found.append(Finding(Level.WARNING, "lmcache-broken", text, "Install another version.", node))
    return found


def _store(plan: Plan, known: Known, shape: KvShape | None, kv: KvFigures | None) -> tuple[Finding, ...]:
    if known.store is None or not plan.needs_store:
        return ()
    value = shape.chunk_bytes(plan.hash.chunk_tokens) if shape else None
    return store_findings(known.store, kv.working_set_bytes if kv else None, value)
