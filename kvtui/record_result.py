"""The result of a run, computed from all that its record holds."""

from __future__ import annotations

from collections.abc import Iterable

from kvtui.journal import Event, iter_events
from kvtui.log_pieces import log_pieces
from kvtui.record import RunRecord
from kvtui.results import Result, result_of
from kvtui.stats.economics import HIT_RATES


def record_result(
    record: RunRecord, hit_rates: tuple[float, ...] = HIT_RATES, events: Iterable[Event] | None = None
) -> Result:
    """The result of a run.

    Args:
        record: Its record.
        hit_rates: Hit rates, 0 to 1, to tell for what an hour saves.
        events: Its events, where somebody reads them anyway.

    Raises:
        RecordError: The record cannot be read.
    """
    found = iter_events(record.events) if events is None else events
    return result_of(record.run, record.plan(), found, hit_rates, log_pieces(record.logs))
