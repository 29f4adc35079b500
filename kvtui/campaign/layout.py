"""Names: where a run keeps its files on a node, and what its requests, keys and sources are called."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.samples import Pass


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """Paths of one run on one node.

    Attributes:
        home: The user's home directory there, absolute.
        run: Id of the run.
        node: The node; several may share a home directory.
    """

    home: str
    run: str
    node: str

    @property
    def root(self) -> str:
        """The run's directory; everything of it on the node lies below."""
        return f"{self.home}/.kvtui/runs/{self.run}.{self.node}"

    def engine_dir(self, block: str, attempt: int) -> str:
        """State, lease and log of the engine of a block."""
        return f"{self.root}/{block}.{attempt}/engine"

    def lmcache_config(self, block: str, attempt: int) -> str:
        """LMCache's configuration file of a block."""
        return f"{self.root}/{block}.{attempt}/lmcache.yaml"

    def pass_dir(self, block: str, attempt: int, topology: str, step: Pass) -> str:
        """State, job and events of the probe of a pass."""
        return f"{self.root}/{block}.{attempt}/{topology}.{step}"

    def disk_dir(self, tier_path: str) -> str:
        """The run's own folder below a disk tier's path."""
        return f"{expand_home(tier_path, self.home)}/kvtui-{self.run}"


def expand_home(path: str, home: str) -> str:
    """A path on a node with its leading ``~`` replaced."""
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def tag(run: str, block: str, attempt: int, purpose: str = "") -> str:
    """The value of LMCache's tag ``run`` in every key of a block."""
    return f"{run}.{block}.{attempt}{'.' + purpose if purpose else ''}"


def key_ending(tag_value: str) -> str:
    """How every key with this tag ends (LMCache 0.5.4 ``utils.py``)."""
    return f"@run%{tag_value}"


def request_id(
    run: str, block: str, attempt: int, topology: str, step: Pass, node: str, document: str
) -> str:
    """The id of a request, unique in a run; it comes back in the engine's log lines."""
    return f"{run}.{block}.{attempt}.{topology}.{step}.{node}.{document}"


def source(node: str, block: str, attempt: int, topology: str, step: Pass) -> str:
    """Name of a pass's event file in the run's record."""
    return f"{node}:{block}.{attempt}/{topology}.{step}"
