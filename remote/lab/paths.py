"""Where the lab keeps its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NODE_NAMES = ("gpu-a", "gpu-b", "valkey")


@dataclass(frozen=True, slots=True)
class LabPaths:
    """The two directories a lab needs: its own, and the engine environment it uses."""

    root: Path
    """Everything the lab writes: keys, logs, the home of each node."""
    engine_env: Path
    """A virtual environment with vLLM for CPUs, LMCache and a Valkey server."""

    @property
    def info(self) -> Path:
        """What a running lab says about itself."""
        return self.root / "lab.json"

    @property
    def up_lock(self) -> Path:
        """Held by whoever starts or ends the lab."""
        return self.root / "up.lock"

    @property
    def daemon_lock(self) -> Path:
        """Held by the daemon as long as it lives."""
        return self.root / "daemon.lock"

    @property
    def daemon_log(self) -> Path:
        """Log of the daemon and its guard."""
        return self.root / "daemon.log"

    @property
    def valkey_log(self) -> Path:
        """Log of the Valkey server."""
        return self.root / "valkey.log"

    @property
    def valkey_dir(self) -> Path:
        """Working directory of the Valkey server."""
        return self.root / "valkey"

    @property
    def ssh_dir(self) -> Path:
        """The client's key and the nodes' host keys."""
        return self.root / "ssh"

    @property
    def bin_dir(self) -> Path:
        """First on the nodes' PATH: a ``python3`` that is always there."""
        return self.root / "bin"

    @property
    def model_dir(self) -> Path:
        """The tiny model."""
        return self.root / "model"

    @property
    def engine_python(self) -> Path:
        """The engine environment's interpreter."""
        return self.engine_env / "bin" / "python"

    def home(self, node: str) -> Path:
        """Home directory of a node."""
        return self.root / "nodes" / node
