"""How far rounding and wrong values move log-probabilities, by the type computed in and the model's depth.

Each line of the table is two campaigns on the lab: one with nothing planted, whose cached requests are
verified hits, and one whose stored values are overwritten with zeros. Weights are random. Under 20 minutes.

    python -m bench.answer_tolerances
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.circumstances import commit
from bench.confounds.acts import zero_values
from bench.confounds.plant import KV_BYTES_PER_TOKEN, Plant, campaign
from bench.confounds.running import carry_out
from bench.confounds.stage import Stage, stage
from kvtui.answer_check import TOLERANCES, apart_of, differences
from kvtui.attribution import Verdict
from kvtui.journal import read_events
from kvtui.paths import places
from kvtui.plan import Plan
from kvtui.record import records
from kvtui.samples import Pass, Sample, samples_of
from remote.lab import info, model

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "answer-tolerances.md"
RECORD = ROOT / "docs" / "records" / "answer-tolerances.json"
CASES = (
    ("float32", 4),
    ("float32", 24),
    ("float16", 4),
    ("float16", 24),
    ("bfloat16", 4),
    ("bfloat16", 24),
)
"""Types and layers."""
# 3 chunks of 256 come from the store, 232 tokens are computed: other pieces than the cold request's.
TOKENS = 1000
DOCUMENTS = 8
# 24 layers of float32 leave room for no more in the engine's own cache.
_MAX_MODEL_LEN = 4096
_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
_BUILD = "import sys, pathlib, model; model.LAYERS = int(sys.argv[2]); model.write(pathlib.Path(sys.argv[1]))"
COMMAND = "python -m bench.answer_tolerances"


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a type's log-probabilities moved, in nats.

    Attributes:
        dtype: The type computed in.
        layers: Layers of the model.
        rounding: Of each verified hit, in ascending order.
        zeroed: Of each hit on zeroed values.
        apart: Between answers to different documents, their median.
        commit: What was measured.
        date: When.
    """

    dtype: str
    layers: int
    rounding: tuple[float, ...]
    zeroed: tuple[float, ...]
    apart: float | None
    commit: str
    date: str


def moved_from(data: dict[str, Any]) -> Moved:
    """What was recorded, from its JSON object."""
    fields: dict[str, Any] = {n: tuple(one) if isinstance(one, list) else one for n, one in data.items()}
    return Moved(**fields)


def recorded(path: Path) -> list[Moved]:
    """What a file holds, which need not exist."""
    if not path.exists():
        return []
    return [moved_from(one) for one in json.loads(path.read_text(encoding="utf-8"))]


def record_each(path: Path, measuring: Callable[[str, int], Moved]) -> None:
    """Measure every case and record each at once, beside what is known of the others."""
    found = {(one.dtype, one.layers): one for one in recorded(path)}
    for dtype, layers in CASES:
        found[dtype, layers] = measuring(dtype, layers)
        print(time.strftime("%H:%M:%S"), found[dtype, layers], flush=True)
        known = [asdict(found[case]) for case in CASES if case in found]
        path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def plan_of(dtype: str, layers: int) -> Plan:
    """The campaign of a type and depth."""
    plan = campaign(documents=DOCUMENTS, capacity_gib=1.0)
    per_token = KV_BYTES_PER_TOKEN * layers // model.LAYERS * _BYTES[dtype] // _BYTES["float32"]
    engine = {"extra_args": ("--dtype", dtype), "max_model_len": _MAX_MODEL_LEN}
    return plan.model_copy(
        update={
            "name": f"{dtype}-{layers}",
            "model": plan.model.model_copy(update={"kv_bytes_per_token": per_token}),
            "corpus": plan.corpus.model_copy(update={"tokens": TOKENS}),
            "engine": plan.engine.model_copy(update=engine),
        }
    )


def _use_model(there: Stage, python: str, layers: int) -> None:
    """Have the lab serve a model of so many layers."""
    directory = there.data / f"model-{layers}"
    if not directory.exists():
        source = Path(model.__file__).parent
        subprocess.run([python, "-c", _BUILD, str(directory), str(layers)], cwd=source, check=True)
    lab = there.lab
    info.write(replace(lab, parts=replace(lab.parts, model_dir=str(directory))), there.paths.info)


def _samples(there: Stage, plan: Plan, plant: Plant | None) -> tuple[Sample, ...]:
    """The requests of a campaign.

    Raises:
        RuntimeError: It failed, or the plant was not planted.
    """
    known = set(records(there.runs))
    outcome = carry_out(there, plan, plant)
    fresh = set(records(there.runs)) - known
    if outcome.exit_code != 0 or outcome.fault or len(fresh) != 1:
        raise RuntimeError(f"{plan.name} failed: exit code {outcome.exit_code} {outcome.fault}")
    return samples_of(read_events(fresh.pop().events))


def reusing(samples: Sequence[Sample]) -> tuple[float, ...]:
    """How far the answers of requests that reused KV are from the computed ones, in ascending order."""
    cold = [one for one in samples if one.step is Pass.COLD]
    hits = [one for one in samples if one.step is Pass.CACHED and one.verdict is Verdict.FULL]
    return tuple(sorted(float(f"{size:.3g}") for _, size in differences(cold, hits)))


def measure(there: Stage, python: str, dtype: str, layers: int) -> Moved:
    """Measure a type and depth.

    Args:
        there: The lab.
        python: The engines' interpreter.
        dtype: The type.
        layers: The depth.
    """
    _use_model(there, python, layers)
    plan = plan_of(dtype, layers)
    right = _samples(there, plan, None)
    wrong = _samples(there, plan, Plant("zeroed", "", "", (), plan, act=zero_values))
    apart, date = apart_of([one for one in right if one.step is Pass.COLD]), time.strftime("%Y-%m-%d")
    return Moved(dtype, layers, reusing(right), reusing(wrong), apart, commit(), date)


def _size(values: Sequence[float], chosen: Callable[[Sequence[float]], float]) -> str:
    return f"{chosen(values):.2g}" if values else "–"


def page(found: Iterable[Moved]) -> str:
    """The table, as Markdown."""
    lines = [
        "# What rounding does to log-probabilities, and what wrong values do",
        "",
        "kvtui holds the answers of requests that reused KV against those that computed it. "
        f"{DOCUMENTS} documents of {TOKENS:,} tokens on the lab, whose model has random weights: in one "
        "campaign every cached request is a verified hit, in the other the stored values were overwritten "
        "with zeros. A difference is the largest over the 8 tokens of an answer, in nats.",
        "",
        f"    {COMMAND}     # with bench/logprob_cost.py it is make answers",
        "",
        "| type | layers | hits | rounding, median | at most | tolerance | hits on zeros | beyond tolerance "
        "| least | median | different documents, median | commit |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in found:
        tolerance = TOLERANCES[one.dtype]
        cells = (
            one.dtype,
            str(one.layers),
            str(len(one.rounding)),
            _size(one.rounding, median),
            _size(one.rounding, max),
            f"{tolerance:g}",
            str(len(one.zeroed)),
            str(sum(size > tolerance for size in one.zeroed)),
            _size(one.zeroed, min),
            _size(one.zeroed, median),
            "–" if one.apart is None else f"{one.apart:.2g}",
            one.commit[:8],
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join((*lines, ""))


def main() -> int:
    """Measure every case, write the record and the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    engine = places().engine
    # Beside the engine environment, which is on a disk: elsewhere temporary files may lie in memory.
    with (
        tempfile.TemporaryDirectory(dir=engine.parent) as directory,
        stage(Path(directory), engine) as there,
    ):
        record_each(options.record, partial(measure, there, str(engine / "bin" / "python")))
    options.page.write_text(page(recorded(options.record)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
