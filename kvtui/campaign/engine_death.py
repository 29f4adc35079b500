"""Whether an engine died in a pass: what failed from then on is no result, and the run cannot go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from kvtui.campaign import engines
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.errors import RunFailed
from kvtui.loglines import clean
from kvtui.samples import Sample
from remote.engine_failure import death_cause

_POLL_S = 0.5
# An engine whose core has died still answers for some seconds, while it says why and shuts down.
_DYING_S = 10.0


def failed_at_the_end(samples: Sequence[Sample]) -> int:
    """How many requests failed after the last one that was answered."""
    count = 0
    for sample in reversed(samples):
        if sample.ttft_ms is not None:
            break
        count += 1
    return count


async def check(ctx: Context, block: Block, node: str, step: str, samples: Sequence[Sample]) -> None:
    """Fail when the last requests of a pass failed and their engine does not serve any more.

    Args:
        ctx: The run.
        block: Its block.
        node: The node that served the pass.
        step: Which pass, in a word.
        samples: The requests of the pass in order.

    Raises:
        RunFailed: The engine is dead; with the cause from its own log.
        RemoteError: The node cannot be asked.
    """
    failed = failed_at_the_end(samples)
    if not failed:
        return
    process, (port, _) = engines.engine(ctx, block, node), engines.ports(ctx, block, node)
    began_s = time.monotonic()
    while (status := await process.status()).state == "running":
        if await engines.served_model(ctx, node, port) is not None:
            return
        if time.monotonic() - began_s >= _DYING_S:
            break
        await asyncio.sleep(_POLL_S)
    copy = engines.log_copy(ctx, block, node)
    await copy.update()
    why = engines.end_from_outside(status) or death_cause([clean(line) for line in copy.lines()]).sentence
    how = "stopped answering" if status.state == "running" else engines.ended(status)
    raise RunFailed(
        f"The engine on {node} {how} in the {step} pass, which left {failed} of {len(samples)} requests "
        f"without an answer: {why}.",
        f"What it measured is kept. Mend the cause, then measure the tier anew: kvtui attach {ctx.run}",
    )
