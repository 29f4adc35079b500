"""Where PyTorch's CPU build comes from.

vLLM's CPU package requires a local version, such as ``torch==2.13.0+cpu``, which PyPI does not have. Where
pip's own configuration leads to one, that is used; elsewhere PyTorch's index is added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from remote.errors import LabError
from remote.lab.pip_run import Outcome, Pip, failure

TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
ASK = ("install", "--dry-run", "--no-deps", "--ignore-installed")


async def extra_index(pip: Pip, requirements: Sequence[str], index: str) -> tuple[str, ...]:
    """Find the pip options without which torch is not found; none where pip knows where it is.

    Args:
        pip: pip of the environment.
        requirements: What will be installed; the first one is vLLM's.
        index: The index to add where pip's own configuration does not do.

    Raises:
        LabError: vLLM's package, or torch, is nowhere to be found.
    """
    wanted = torch_requirements(await _metadata(pip, requirements[0]))
    if not wanted:
        return ()
    first = await pip(*ASK, *wanted)
    if first.status == 0:
        return ()
    options = ("--extra-index-url", index)
    second = await pip(*ASK, *options, *wanted)
    if second.status == 0:
        return options
    if not _is_missing(second):
        raise failure(second, pip.python.parent.parent, pip.log)
    raise LabError(
        f"The CPU build of PyTorch that {requirements[0]} needs ({_short(wanted[0])}) is neither where pip"
        f" looks by its own configuration nor at {index}.",
        "Give pip an index that has it (PIP_EXTRA_INDEX_URL), and start the lab again.",
    )


def torch_requirements(metadata: dict[str, Any]) -> tuple[str, ...]:
    """Pick what a package requires of torch, environment markers included: pip judges those."""
    requires: list[str] = metadata.get("requires_dist") or []
    return tuple(line for line in requires if re.match(r"torch(?![\w.-])", line) and "extra ==" not in line)


async def _metadata(pip: Pip, requirement: str) -> dict[str, Any]:
    report = pip.temporary / "report.json"
    outcome = await pip(*ASK, "--report", str(report), requirement)
    if outcome.status != 0:
        raise failure(outcome, pip.python.parent.parent, pip.log)
    installs: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    metadata: dict[str, Any] = installs[0]["metadata"]
    return metadata


def _is_missing(outcome: Outcome) -> bool:
    return any("No matching distribution found" in line for line in outcome.lines)


def _short(requirement: str) -> str:
    return requirement.partition(";")[0].strip()
