"""Plans that come with kvtui."""

from __future__ import annotations

from pathlib import Path

PLANS = Path(__file__).parent / "plans"
DEFAULT_PLAN = PLANS / "lab.toml"
