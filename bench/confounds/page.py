"""Plants and detections, as a page of the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.confounds.outcome import Outcome
from bench.confounds.plant import Plant

COMMAND = "make confounds"
RECORD = "docs/records/confounds.json"
_HEAD = """\
# Planted confounds

A benchmark is spoilt by what nobody notices. Each of these confounds is planted on the lab (`docs/lab.md`:
real engines, real LMCache, real Valkey, over SSH), one at a time, in a small campaign that kvtui's command
line carries out. It counts as detected when kvtui shows every demanded finding above info: before the run
(`kvtui plan show`), in its result, or on the Live screen. Campaigns with nothing planted must show none.
"""
_TABLE = (
    "| confound | how it is planted | demanded | detected | also seen | commit |",
    "| --- | --- | --- | --- | --- | --- |",
)


def _codes(codes: Iterable[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes) or "–"


def _of(outcomes: Iterable[Outcome], name: str) -> list[Outcome]:
    return [one for one in outcomes if one.plant == name]


def _row(plant: Plant, done: Sequence[Outcome]) -> str:
    planted = [one for one in done if not one.fault]
    found = sum(one.detects(plant.demands) for one in planted)
    others = Counter(code for one in done for code in one.codes if code not in plant.demands)
    word = (
        f"{found}/{len(planted)}"
        if planted
        else f"not planted here: {done[0].fault}"
        if done
        else "not measured"
    )
    cells = (
        plant.confound,
        plant.how,
        _codes(plant.demands),
        word if found == len(planted) else f"**{word}**",
        _codes(code for code, _ in sorted(others.items(), key=lambda item: (-item[1], item[0]))),
        ", ".join(dict.fromkeys(one.commit[:8] for one in done)) or "–",
    )
    return f"| {' | '.join(cells)} |"


def _clean(done: Sequence[Outcome]) -> list[str]:
    loud = [one for one in done if one.codes or one.exit_code]
    names = Counter(one.campaign for one in done)
    kinds = ", ".join(f"{count} × {name}" for name, count in sorted(names.items()))
    lines = ["## Nothing planted", ""]
    lines.append(f"{len(done)} campaigns ({kinds or 'none'}); {len(loud)} of them with a finding above info.")
    for one in loud:
        lines.append(
            f"- {one.campaign}, round {one.round}, exit code {one.exit_code}: {_codes(sorted(one.codes))}"
        )
    commits = ", ".join(dict.fromkeys(one.commit[:8] for one in done))
    return [*lines, "", f"Commits: {commits or '–'}."]


def page(plants: Sequence[Plant], outcomes: Sequence[Outcome]) -> str:
    """The page: what was done, and the tables."""
    about = f"Made by `{COMMAND}`, which measures what `{RECORD}` does not have yet."
    rows = [_row(plant, _of(outcomes, plant.name)) for plant in plants]
    return "\n".join([_HEAD, about, "", *_TABLE, *rows, "", *_clean(_of(outcomes, "")), ""])


def problems(plants: Sequence[Plant], outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What was not detected, could not be planted, or was found where nothing was planted, in words."""
    by_name = {plant.name: plant for plant in plants}
    found = []
    for one in outcomes:
        what = f"{one.plant or 'clean ' + one.campaign}, round {one.round}"
        if one.fault:
            found.append(f"{what}: {one.fault}")
        elif one.plant:
            missing = set(by_name[one.plant].demands) - one.codes
            if missing:
                found.append(f"{what}: no {', '.join(sorted(missing))}; seen: {sorted(one.codes)}")
        else:
            loud = [f"{finding.code} ({finding.text})" for finding in one.seen if finding.above_info]
            if loud or one.exit_code:
                found.append(f"{what}: exit code {one.exit_code}, {'; '.join(loud)}")
    return tuple(found)
