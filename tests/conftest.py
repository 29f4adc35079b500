"""What tests of several packages need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kvtui.paths import places


@pytest.fixture(scope="session")
def engine_env() -> Path:
    """The lab's engine environment: real vLLM, LMCache and Valkey."""
    named = os.environ.get("KVTUI_ENGINE_ENV")
    directory = Path(named) if named else places().engine
    if not (directory / "bin" / "python").exists():
        pytest.skip(f"there is no engine environment in {directory}: `kvtui lab up` installs it")
    return directory
