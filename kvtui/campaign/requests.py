"""The requests of a pass, as the probe reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from corpus.tokens import TokenDocument
from kvtui.campaign.layout import request_id
from kvtui.plan import Plan, TierKind
from kvtui.samples import Pass


@dataclass(frozen=True, slots=True)
class PassPlan:
    """What a pass sends, and to whom.

    Attributes:
        block: Name of its block.
        attempt: Which try of the block.
        topology: ``single`` or ``fleet``.
        step: Which pass.
        node: The node that serves it.
        tag: Value of LMCache's tag in its keys.
    """

    block: str
    attempt: int
    topology: str
    step: Pass
    node: str
    tag: str


def requests_jsonl(
    plan: Plan, kind: TierKind, run: str, what: PassPlan, documents: Sequence[TokenDocument]
) -> bytes:
    """One line a request, in the order in which they are to be sent.

    The tag makes a run's keys its own, so that cold is cold without emptying a store that others use. An
    engine without LMCache would warn about it, so there it stays out.

    The log-probability of each token and of the most probable other one, by their ids, tells whether
    reused KV is right. Ranking them is work of the engine's in cold and cached passes alike.
    """
    lines = []
    for document in documents:
        body = {
            "model": plan.model.served_name,
            "prompt": document.token_ids,
            "max_tokens": plan.engine.output_tokens,
            "temperature": 0,
            "ignore_eos": True,
            "logprobs": 2,
            "return_tokens_as_token_ids": True,
        }
        if kind is not TierKind.NONE:
            body["kv_transfer_params"] = {"lmcache.tag.run": what.tag}
        line = {
            "request_id": request_id(
                run, what.block, what.attempt, what.topology, what.step, what.node, document.document_id
            ),
            "expect_prompt_tokens": len(document.token_ids),
            "body": body,
            "meta": {"document": document.document_id},
        }
        lines.append(json.dumps(line))
    return "".join(f"{line}\n" for line in lines).encode()
