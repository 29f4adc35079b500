"""How large the KV of a plan is, from whoever knows it."""

from __future__ import annotations

from kvtui.check.assessment import KvFigures
from kvtui.check.known import Known
from kvtui.engine_options import tensor_parallel
from kvtui.fit import working_set_bytes
from kvtui.kvsize import KvShape
from kvtui.plan import Plan


def shape_of(plan: Plan, known: Known) -> tuple[KvShape, str] | None:
    """KV shape of the plan's model and where it comes from, or ``None`` while nobody knows it.

    Raises:
        PlanError: An option in ``extra_args`` has a value that the engine cannot take.
    """
    if known.shape is not None:
        return known.shape, "the model's config.json"
    ranks = tensor_parallel(plan.engine.extra_args)
    if plan.model.kv_bytes_per_token is not None:
        return split_evenly(plan.model.kv_bytes_per_token, ranks), "kv_bytes_per_token of the plan"
    for node in plan.engine_nodes:
        facts = known.facts.get(node)
        for folder in (facts.models if facts else None) or ():
            if plan.model.path in (folder.path, folder.name) and folder.kv_bytes_per_token is not None:
                return split_evenly(folder.kv_bytes_per_token, ranks), f"the model's folder on {node}"
    return None


def split_evenly(bytes_per_token: int, ranks: int) -> KvShape:
    """A shape of which only the size is known, split over the ranks; a rank's part is rounded up."""
    return KvShape(1, ranks, -(-bytes_per_token // (2 * ranks)), 1, ranks=ranks)


def kv_figures(plan: Plan, shape: KvShape, source: str) -> KvFigures:
    """The sizes of the plan's KV."""
    chunk, tokens = plan.hash.chunk_tokens, plan.corpus.prompt_tokens
    document_bytes = shape.document_bytes(tokens, chunk)
    return KvFigures(
        token_bytes=shape.bytes_per_token,
        chunk_bytes=shape.document_bytes(chunk, chunk),
        document_chunks=tokens // chunk,
        document_bytes=document_bytes,
        working_set_bytes=working_set_bytes(plan, shape),
        ranks=shape.ranks,
        source=source,
    )
