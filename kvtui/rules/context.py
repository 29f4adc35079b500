"""What a rule may ask about the run, and the conditions it asks with."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.plan import TierKind
from kvtui.samples import Pass


@dataclass(frozen=True, slots=True)
class RunContext:
    """The run as far as it decides what a line means; ``None`` where unknown.

    Attributes:
        fleet: Some pass reads on one node what another node stored.
        seeded: Every engine has the same fixed ``PYTHONHASHSEED``.
        same_keys: Every engine process printed the same root of its chunk hashes (``NONE_HASH``).
        tier: Name of the tier that is measured; findings of different tiers are kept apart.
        tier_kind: Where that tier keeps KV.
        step: The pass that is on.
        lmcache_version: As the engine prints it.
        stopping: The engine was told to stop.
    """

    fleet: bool = False
    seeded: bool | None = None
    same_keys: bool | None = None
    tier: str = ""
    tier_kind: TierKind | None = None
    step: Pass | None = None
    lmcache_version: str | None = None
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """When a case of a rule holds: everything that is given must hold; unknown context holds nothing.

    Attributes:
        fleet: Whether the run is one over several nodes.
        seeded: Whether the seed is fixed everywhere.
        same_keys: Whether all engines make the same keys.
        tiers: The tier is one of these.
        steps: The pass is one of these.
        lmcache: The version starts with one of these.
        stopping: Whether the engine was told to stop.
    """

    fleet: bool | None = None
    seeded: bool | None = None
    same_keys: bool | None = None
    tiers: tuple[TierKind, ...] = ()
    steps: tuple[Pass, ...] = ()
    lmcache: tuple[str, ...] = ()
    stopping: bool | None = None

    def holds(self, context: RunContext) -> bool:
        """Whether all of it is so in this run."""
        return (
            self.fleet in (None, context.fleet)
            and self.seeded in (None, context.seeded)
            and self.same_keys in (None, context.same_keys)
            and self.stopping in (None, context.stopping)
            and (not self.tiers or context.tier_kind in self.tiers)
            and (not self.steps or context.step in self.steps)
            and (not self.lmcache or (context.lmcache_version or "").startswith(self.lmcache))
        )
