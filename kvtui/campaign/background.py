"""What goes on beside the steps of a run: leases, samples and logs of the nodes, the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from kvtui.campaign import engines, watching
from kvtui.campaign.context import Context
from kvtui.campaign.prepare import lock
from kvtui.campaign.steps import Block, Step, StepKind, block_nodes
from kvtui.campaign.store_watch import StoreWatch
from kvtui.plan import TierKind
from remote.errors import RemoteError

_PAUSE_S = 1.0
_LONGEST_CLAIM_S = 60.0


class Background:
    """The work beside the steps, told which block is under way."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.block: Block | None = None

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Work for the length of the context; nothing of it is left when that ends."""
        nodes = tuple(self._ctx.links)
        works: list[Coroutine[Any, Any, None]] = [self._claims(), self._store()]
        works += [_over_and_over(watching.merge_on, self._ctx, node) for node in nodes]
        works += [self._logs(node) for node in nodes if node in self._ctx.plan.engine_nodes]
        tasks = [asyncio.create_task(work) for work in works]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def _claims(self) -> None:
        """Claim the nodes, the watchers and the current engines again and again, as long as kvtui lives."""
        while True:
            await asyncio.sleep(min(self._ctx.lease_s / 4, _LONGEST_CLAIM_S))
            for node in self._ctx.links:
                with suppress(RemoteError):  # the step under way meets the same trouble and tells of it
                    await self._claim(node)

    async def _claim(self, node: str) -> None:
        block = self.block
        await lock(self._ctx, node)
        if self._ctx.done(Step(StepKind.PREPARE)) is not None:
            await watching.keep(self._ctx, node)
        if block is not None and node in block_nodes(self._ctx.plan, block):
            await engines.engine(self._ctx, block, node).renew()

    async def _logs(self, node: str) -> None:
        """Copy the log of the node's current engine as it grows."""
        while True:
            block = self.block
            if block is not None and node in block_nodes(self._ctx.plan, block):
                copy = engines.log_copy(self._ctx, block, node)
                await self._while_in(block, _over_and_over(copy.follow))
            else:
                await asyncio.sleep(_PAUSE_S)

    async def _store(self) -> None:
        """Ask the store for as long as a block uses it."""
        while True:
            block = self.block
            if block is not None and self._ctx.tier(block).kind is TierKind.VALKEY:
                await self._while_in(block, StoreWatch(self._ctx, block).run())
            else:
                await asyncio.sleep(_PAUSE_S)

    async def _while_in(self, block: Block, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        try:
            while self.block is block and not task.done():
                await asyncio.wait({task}, timeout=_PAUSE_S)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _over_and_over(work: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    """Take up again what a lost link has ended."""
    while True:
        with suppress(RemoteError):
            await work(*arguments)
        await asyncio.sleep(_PAUSE_S)
