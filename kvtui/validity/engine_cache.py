"""Whether the engine's own prefix cache served requests that a tier was to serve."""

from __future__ import annotations

from collections.abc import Iterator

from kvtui.findings import Finding, Level
from kvtui.journal import Event
from kvtui.live.numbers import number
from kvtui.plan import TierKind

_REMEDY = "Leave --enable-prefix-caching out of extra_args: what it keeps no tier is asked for."


class EngineCache:
    """Tokens that engines had themselves, by pass."""

    def __init__(self) -> None:
        self._before: dict[str, float] = {}
        self._counted: dict[tuple[str, str], float] = {}
        self._told: dict[tuple[str, str], list[int]] = {}

    def take_counters(self, event: Event, tier: str, where: str, moment: str) -> None:
        """A reading of an engine's counters before or after a pass."""
        hits, name = number(event["values"].get("prefix_hits")), event["name"].removesuffix(f".{moment}")
        if hits is None:
            return
        if moment == "before":
            self._before[name] = hits
        elif name in self._before and hits > self._before[name]:
            key = tier, where
            self._counted[key] = self._counted.get(key, 0.0) + hits - self._before[name]

    def take_sample(self, event: Event, tier: str, kind: TierKind, where: str) -> None:
        """A judged request; one that no tier can have served tells of the engine's cache."""
        cached = number(event["evidence"].get("cached_tokens"))
        if kind is TierKind.NONE and cached:
            self._told.setdefault((tier, where), []).append(int(cached))

    def findings(self) -> Iterator[Finding]:
        """A finding for each pass in which that happened."""
        for tier, where in dict.fromkeys((*self._counted, *self._told)):
            told = self._told.get((tier, where), [])
            tokens = self._counted.get((tier, where)) or float(sum(told))
            text = (
                f"The engine's own prefix cache served {tokens:,.0f} tokens, so its times are not {tier}'s."
            )
            yield Finding(Level.WARNING, "prefix-cache-on", text, _REMEDY, where)
