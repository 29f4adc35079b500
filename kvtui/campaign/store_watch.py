"""What the store says of itself, once a second while a tier uses it; its silence is a finding."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import asdict

from kvtui.campaign import tiers
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.findings import Finding, Level
from remote.errors import RemoteError

SILENT_S = 10.0
_PERIOD_S = 1.0
_FIELDS = (
    "used_memory_bytes",
    "maxmemory_bytes",
    "keys",
    "evicted_keys",
    "net_in_bytes",
    "net_out_bytes",
    "get_calls",
    "set_calls",
)


class StoreWatch:
    """Watches the store for the length of a block."""

    def __init__(self, ctx: Context, block: Block) -> None:
        self._ctx = ctx
        self._block = block
        self._answered_s = time.monotonic()

    async def run(self) -> None:
        """Sample the store until cancelled; a lost connection is made anew, and gives no sample meanwhile."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._sample())
            both.create_task(self._listen())

    async def _sample(self) -> None:
        while True:
            # Noticed by the other task, since an answer may not come for longer than that.
            with suppress(RemoteError):
                async with tiers.store_of(self._ctx) as store:
                    while True:
                        info = asdict(await store.info())
                        self._answered_s = time.monotonic()
                        self._ctx.journal.append("store_sample", **{name: info[name] for name in _FIELDS})
                        await asyncio.sleep(_PERIOD_S)
            await asyncio.sleep(_PERIOD_S)

    async def _listen(self) -> None:
        while True:
            await asyncio.sleep(_PERIOD_S)
            if time.monotonic() - self._answered_s >= SILENT_S:
                target = self._ctx.target
                self._ctx.find(
                    Finding(
                        Level.WARNING,
                        "store-silent",
                        f"Valkey at {target.store_address}:{target.store_port} has not answered for "
                        f"{SILENT_S:.0f} s: what the engines store there may be lost.",
                        "Look whether it runs and has memory, then stop and start the run again.",
                        self._block.tier,
                    )
                )
                return
