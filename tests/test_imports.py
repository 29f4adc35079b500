"""What an import costs: the command line starts light, the layers stay apart."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "asyncssh",
    "glide_sync",
    "lmcache",
    "numpy",
    "plotext",
    "prometheus_client",
    "scipy",
    "textual",
    "torch",
    "transformers",
    "vllm",
}
TERMINAL = {"textual", "plotext", "typer", "rich"}


def loaded_by(statement: str) -> set[str]:
    """Top-level modules that a statement loads in a process of its own."""
    code = f"import sys; {statement}; print(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_command_line_starts_without_anything_heavy() -> None:
    assert not loaded_by("import kvtui.cli") & HEAVY


@pytest.mark.parametrize(
    "module",
    ["corpus.generate", "remote.link", "remote.lab.control", "kvtui.campaign.runner", "kvtui.launch"],
)
def test_what_is_below_the_terminal_does_not_know_it(module: str) -> None:
    assert not loaded_by(f"import {module}") & TERMINAL


def test_the_domain_needs_no_node() -> None:
    assert not loaded_by("import kvtui.results, kvtui.fingerprint, kvtui.plan, kvtui.lab_plan") & {
        "asyncssh",
        "remote",
        "corpus",
    }
