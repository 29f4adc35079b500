"""Predicted against measured, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from bench.fit_combinations import Combination, predicted
from bench.fit_measuring import Measurement
from kvtui.fit import Reuse

COMMAND = "make fit-validation"
RECORD = "docs/records/fit-validation.json"
_HEAD = """\
# The fit model against LMCache

kvtui predicts how many documents a cached pass finds whole (`kvtui/fit`). Here are its predictions beside
what real engines did: vLLM with LMCache on the lab (`docs/lab.md`), one start of an engine a row, documents
sent one at a time, cold and then cached. Before, the engine has served two documents to warm up, and two more
twice where the tier has room for them; the prediction counts those too. A chunk has 256 tokens.
"""
_TABLE = (
    "| # | tier | policy | capacity in chunks | documents | cached order | predicted | measured | | commit |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
)
_TAIL = """\
`exact`: one number was predicted, and measured. `inside`: an interval was predicted, and the measured number
lies in it. An interval stands where nobody can tell:

- Valkey with `allkeys-lru` gives up keys that it picks from a sample.
- Valkey counts its own overhead and what is on its way as memory, so with `noeviction` the last documents
  are open.
- On disk, a step's files are written by four threads in any order. With LRU and FIFO that matters only where
  less than a document is missing. MRU reaches for the step's own files, so what it leaves is open.
- LFU on disk is exact until everything that is there has been used more often than what comes. From then on
  it reaches for the chunks of the step that is being written. The tier's index does not have those whose file
  is not there yet, and `get_evict_candidates` raises `KeyError` (LMCache 0.5.4,
  `v1/storage_backend/cache_policy/lfu.py`), which ends the engine. So an interval is predicted, and kvtui
  says that the engine may fail. Give LFU on disk room for everything, or take LRU.
"""


def verdict(prediction: Reuse, measurement: Measurement | None) -> str:
    """``exact``, ``inside``, ``contradicted`` or ``not measured``."""
    if measurement is None:
        return "not measured"
    certain = prediction.low == prediction.high
    if not prediction.low <= measurement.found <= prediction.high or (certain and measurement.failed):
        return "**contradicted**"
    return "exact" if certain else "inside"


def _row(number: int, combination: Combination, measurement: Measurement | None) -> str:
    prediction = predicted(combination)
    found = "–"
    if measurement is not None:
        failed = ", then the engine failed" if measurement.failed else ""
        found = f"{measurement.found}/{combination.documents}{failed}"
    cells = (
        str(number),
        str(combination.kind),
        combination.store_policy or str(combination.policy),
        f"{combination.chunks} of {combination.working_chunks}",
        f"{combination.documents} × {combination.tokens:,}",
        str(combination.order),
        str(prediction),
        found,
        verdict(prediction, measurement),
        "–" if measurement is None else f"{measurement.commit[:8]}, {measurement.date}",
    )
    return f"| {' | '.join(cells)} |"


def page(wanted: Sequence[Combination], measurements: Sequence[Measurement]) -> str:
    """The page: what was done, and the table."""
    by_combination = {one.combination: one for one in measurements}
    versions: dict[str, str] = {}
    for one in measurements:
        versions |= one.versions
    made = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    rows = [
        _row(number, combination, by_combination.get(combination))
        for number, combination in enumerate(wanted, 1)
    ]
    about = f"Made by `{COMMAND}`, which measures what `{RECORD}` does not have yet, with {made}."
    return "\n".join([_HEAD, about, "", *_TABLE, *rows, "", _TAIL])


def contradicted(wanted: Sequence[Combination], measurements: Sequence[Measurement]) -> tuple[str, ...]:
    """What a real run contradicts or did not answer, in words."""
    known = {one.combination: one for one in measurements}
    problems = []
    for combination in wanted:
        prediction, one = predicted(combination), known.get(combination)
        if verdict(prediction, one) not in ("exact", "inside"):
            said = "nothing" if one is None else one.found
            problems.append(
                f"{combination.run} {combination.tier_name}: predicted {prediction}, measured {said}"
            )
    return tuple(problems)
