"""What tests of screens share: the app without its surroundings, colours as they are, nothing that moves."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No animation, no blinking, no setting of the person who runs the tests."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)
    monkeypatch.setattr("textual.widgets.Input._toggle_cursor", lambda self: None)
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
