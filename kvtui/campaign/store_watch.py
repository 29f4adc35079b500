"""What the store says of itself, once a second while a tier uses it; its silence is a finding."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict

from kvtui.campaign import tiers
from kvtui.campaign.context import Context
from kvtui.campaign.steps import Block
from kvtui.findings import Finding, Level
from remote.errors import RemoteError, StoreUnavailable

# A store under load answers late; one that refuses connections is gone, and the next step may end the run.
SILENT_S = 10.0
REFUSING_S = 3.0
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
        self._refused = False

    async def run(self) -> None:
        """Sample the store until cancelled; a lost connection is made anew, and gives no sample meanwhile."""
        listening = asyncio.create_task(self._listen())
        try:
            await self._sample()
        finally:
            # A step that needs the store ends the run before the silence is long: told now or never.
            told = listening.done()
            listening.cancel()
            if self._refused and not told:
                self._tell()

    async def _sample(self) -> None:
        while True:
            # Noticed by the other task too, since an answer may not come for longer than that.
            try:
                async with tiers.store_of(self._ctx) as store:
                    while True:
                        info = asdict(await store.info())
                        self._answered_s, self._refused = time.monotonic(), False
                        self._ctx.journal.append("store_sample", **{name: info[name] for name in _FIELDS})
                        await asyncio.sleep(_PERIOD_S)
            except StoreUnavailable:
                self._refused = True
            except RemoteError:
                pass
            await asyncio.sleep(_PERIOD_S)

    def _silence_s(self) -> float:
        return time.monotonic() - self._answered_s

    async def _listen(self) -> None:
        while True:
            await asyncio.sleep(_PERIOD_S)
            if self._silence_s() >= (REFUSING_S if self._refused else SILENT_S):
                self._tell()
                return

    def _tell(self) -> None:
        target = self._ctx.target
        text = (
            f"Valkey at {target.store_address}:{target.store_port} has not answered for "
            f"{self._silence_s():.0f} s: what the engines store there may be lost."
        )
        remedy = "Look whether it runs and has memory, then stop and start the run again."
        self._ctx.find(Finding(Level.WARNING, "store-silent", text, remedy, self._block.tier))
