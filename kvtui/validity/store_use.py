"""Whether the store served this run alone, and all the time."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.findings import Finding, Level
from kvtui.journal import Event
from kvtui.live.numbers import number

# LMCache reads or writes each chunk of a request once; a little more is left to it.
_CALLS_FROM = 20
_CALLS_SHARE = 0.1


@dataclass(slots=True)
class BlockUse:
    """The store while one try of a block went on.

    Attributes:
        calls: Calls of GET and SET, as the store counts them.
        requests: Requests that were sent to engines.
        most: Calls and requests at the step's end at which the store had most calls too many.
        too_many: How many.
        restarts: How often the store's counters began anew.
        lost_keys: Keys that were gone then.
    """

    calls: float = 0.0
    requests: int = 0
    most: tuple[float, int] = (0.0, 0)
    too_many: float = 0.0
    restarts: int = 0
    lost_keys: float = 0.0


class StoreUse:
    """Follows the store's counts block by block.

    Args:
        chunks: Chunks of a request, its unfinished last one too.
    """

    def __init__(self, chunks: int) -> None:
        self._chunks = chunks
        self._ranks: int | None = None
        self._block = ""
        self._before: Event | None = None
        self.blocks: dict[str, BlockUse] = {}

    def set_ranks(self, ranks: int | None) -> None:
        """How many ranks keep KV of their own, where it is known."""
        self._ranks = ranks

    def begin(self, block: str) -> None:
        """The run came to a step of a block, or of none."""
        if block != self._block:
            self._block, self._before = block, None

    def sent(self, block: str) -> None:
        """A request was sent."""
        self.blocks.setdefault(block, BlockUse()).requests += 1

    def take(self, event: Event) -> None:
        """A sample of the store."""
        before, self._before = self._before, event
        if before is None or not self._block:
            return
        use = self.blocks.setdefault(self._block, BlockUse())
        if any(_grown(before, event, name) < 0 for name in ("net_in_bytes", "net_out_bytes")):
            use.restarts += 1
            use.lost_keys += max(0.0, -_grown(before, event, "keys"))
            return
        use.calls += sum(max(0.0, _grown(before, event, name)) for name in ("get_calls", "set_calls"))

    def settle(self) -> None:
        """A step is over, and all its requests are known: compare."""
        use = self.blocks.get(self._block)
        if use is None or self._ranks is None or use.restarts:
            return
        expected = use.requests * self._chunks * self._ranks
        too_many = use.calls - expected
        if too_many > max(_CALLS_FROM, expected * _CALLS_SHARE, use.too_many):
            use.too_many, use.most = too_many, (use.calls, expected)


def _grown(before: Event, event: Event, name: str) -> float:
    old, new = number(before.get(name)), number(event.get(name))
    return 0.0 if old is None or new is None else new - old


def store_use_findings(use: BlockUse, where: str) -> tuple[Finding, ...]:
    """What the counts of a block say."""
    found = []
    if use.restarts:
        lost = f" {use.lost_keys:,.0f} keys were gone." if use.lost_keys else ""
        text = f"Valkey was started anew while this tier was measured: its counts began from 0.{lost}"
        remedy = "Look into its log for the cause, and measure this tier again."
        found.append(Finding(Level.WARNING, "store-lost", text, remedy, where))
    if use.too_many:
        calls, expected = use.most
        text = (
            f"Others use the store: Valkey counted {calls:,.0f} calls of GET and SET, the run's own requests "
            f"make {expected:,} at most."
        )
        remedy = "Give the benchmark a server of its own."
        found.append(Finding(Level.WARNING, "store-shared", text, remedy, where))
    return tuple(found)
