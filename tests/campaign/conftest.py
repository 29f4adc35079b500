"""A node of one's own, the command line in a process of its own, and an engine that only pretends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.remote import ssh_server
from tests.remote.ssh_server import InProcess, Keys

CONFIG = {
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "num_hidden_layers": 4,
    "dtype": "float32",
}
PLAN = """
name = "test"
[model]
path = "{model}"
served_name = "tiny"
[corpus]
documents = 2
tokens = 300
[engine]
start_timeout_s = 20
[passes]
topologies = ["single"]
[nodes.gpu-a]
ssh = "gpu-a"
engine_python = "{engine}"
[nodes.valkey]
ssh = "gpu-a"
[store]
node = "valkey"
port = {store_port}
[[tiers]]
name = "{kind}"
kind = "{kind}"
capacity_gib = 1
"""
# Answers the question for versions as a whole environment would; as an engine it does what the test asks.
ENGINE = """#!{python}
import json, os, sys
if sys.argv[1] == "-c":
    print(json.dumps({{"python": "3.11", "vllm": "0.28.0", "lmcache": "0.5.4", "valkey-glide-sync": "2"}}))
    raise SystemExit
port = int(sys.argv[sys.argv.index("--port") + 1])
{body}
"""


@dataclass
class Ended:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str


def _heed_ctrl_c() -> None:
    """A suite that runs in the background ignores Ctrl-C, and what it starts inherits that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class Operator:
    """The person's machine: a home, an SSH configuration, and kvtui."""

    home: Path
    node: InProcess

    def write_ssh_config(self) -> None:
        """An alias for the node, its key and its known hosts."""
        (self.home / ".ssh").mkdir(exist_ok=True)
        lines = [
            "Host gpu-a",
            "  HostName 127.0.0.1",
            f"  Port {self.node.port}",
            "  User tester",
            f"  IdentityFile {self.node.keys.client}",
            f"  UserKnownHostsFile {self.node.keys.known_hosts}",
        ]
        (self.home / ".ssh" / "config").write_text("\n".join(lines) + "\n")

    def write_plan(self, **parts: object) -> Path:
        """A plan for the one node."""
        model = self.home / "model"
        model.mkdir(exist_ok=True)
        (model / "config.json").write_text(json.dumps(CONFIG))
        engine = self.home / "engine-python"
        values = {
            "model": model,
            "engine": engine if engine.exists() else self.engine(),
            "store_port": 1,
            "kind": "dram",
            **parts,
        }
        path = self.home / "plan.toml"
        path.write_text(PLAN.format(**values))
        return path

    def engine(self, body: str = "raise SystemExit('no engine')") -> Path:
        """An engine's interpreter that runs ``body``."""
        path = self.home / "engine-python"
        path.write_text(ENGINE.format(python=sys.executable, body=body))
        path.chmod(0o755)
        return path

    def saved(self) -> str:
        """The engine's interpreter as it is, for :meth:`restore`."""
        return (self.home / "engine-python").read_text()

    def restore(self, engine: str) -> None:
        """Put the engine's interpreter back."""
        (self.home / "engine-python").write_text(engine)

    def start(
        self, *arguments: object, terminal: int | None = None, stdin: int = asyncio.subprocess.DEVNULL
    ) -> asyncio.Future[asyncio.subprocess.Process]:
        """Start the command line in a process of its own, without a terminal or at one."""
        env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "SSH_"))}
        return asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "kvtui",
                *map(str, arguments),
                env={**env, "HOME": str(self.home)},
                stdin=stdin if terminal is None else terminal,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE if terminal is None else terminal,
                cwd=self.home,
                preexec_fn=_heed_ctrl_c,
            )
        )

    async def kvtui(self, *arguments: object) -> Ended:
        """Run the command line to its end."""
        process = await self.start(*arguments)
        async with asyncio.timeout(120):
            stdout, stderr = await process.communicate()
        return Ended(process.returncode or 0, stdout.decode(), stderr.decode())


@pytest.fixture
async def operator(tmp_path: Path) -> AsyncIterator[Operator]:
    """An operator with one node, whose SSH server runs in this process."""
    home, node_home = tmp_path / "operator", tmp_path / "node"
    home.mkdir()
    node_home.mkdir()
    async with ssh_server.in_process(node_home, Keys.generate(tmp_path / "keys")) as node:
        person = Operator(home, node)
        person.write_ssh_config()
        yield person
