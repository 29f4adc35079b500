"""Where kvtui keeps its files on the operator's machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from platformdirs import PlatformDirs


@dataclass(frozen=True, slots=True)
class Places:
    """Every directory and file that kvtui writes, absolute."""

    config: Path
    plans: Path
    runs: Path
    lab: Path
    engine: Path
    state: Path
    log: Path

    def rows(self) -> tuple[tuple[str, Path], ...]:
        """Name and path of each place, for ``kvtui locate``."""
        return (
            ("config", self.config),
            ("plans", self.plans),
            ("runs", self.runs),
            ("lab", self.lab),
            ("engine", self.engine),
            ("state", self.state),
            ("log", self.log),
        )


def places() -> Places:
    """The places of the user who runs this process (XDG on Linux)."""
    dirs = PlatformDirs("kvtui", appauthor=False)
    data = Path(dirs.user_data_dir)
    state = Path(dirs.user_state_dir)
    return Places(
        config=Path(dirs.user_config_dir),
        plans=Path(dirs.user_config_dir) / "plans",
        runs=data / "runs",
        lab=data / "lab",
        engine=data / "engine-cpu",
        state=state,
        log=state / "kvtui.log",
    )
