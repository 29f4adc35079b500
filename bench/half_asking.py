"""kvtui that asks for log-probabilities in half of its requests.

Run as ``python -m bench.half_asking kvtui launch PLAN``. A document has them in one of the two passes of a
repeat, and in the other one in the next repeat.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

from corpus.tokens import TokenDocument
from kvtui import cli
from kvtui.campaign import passes
from kvtui.campaign.requests import PassPlan, requests_jsonl
from kvtui.plan import Plan, TierKind
from kvtui.samples import Pass


def asks(document: int, repeat: int, step: Pass) -> bool:
    """Whether a request asks for log-probabilities.

    Args:
        document: Its document's place among the names of all.
        repeat: The repeat of the campaign.
        step: The pass.
    """
    return (document + repeat + (step is Pass.CACHED)) % 2 == 0


def repeat_of(block: str) -> int:
    """The repeat that a block belongs to, from its name."""
    found = re.search(r"-r(\d+)$", block)
    return int(found[1]) if found else 1


def half_asking(
    plan: Plan, kind: TierKind, run: str, what: PassPlan, documents: Sequence[TokenDocument]
) -> bytes:
    """What kvtui sends, but that half of the requests of a measured pass ask for no log-probabilities."""
    measured = what.step in (Pass.COLD, Pass.CACHED)
    names = sorted(document.document_id for document in documents)
    lines = []
    for line in map(json.loads, requests_jsonl(plan, kind, run, what, documents).splitlines()):
        document = names.index(line["meta"]["document"])
        if measured and not asks(document, repeat_of(what.block), what.step):
            del line["body"]["logprobs"]
        lines.append(json.dumps(line))
    return "".join(f"{line}\n" for line in lines).encode()


if __name__ == "__main__":
    vars(passes).update(requests_jsonl=half_asking)
    sys.argv = sys.argv[1:]
    cli.main()
