"""``kvtui nodes probe`` against nodes: found, unreachable, not trusted, not known."""

from __future__ import annotations

import asyncio
import json
import os
import socket

import asyncssh
import pytest

from kvtui import launch
from kvtui.paths import places
from kvtui.plan import load_plan
from kvtui.run_secrets import Secrets
from tests.campaign.conftest import Operator
from tests.campaign.test_follower import Quiet
from tests.remote.waiting import reached


async def test_what_nodes_are_made_of(operator: Operator) -> None:
    added = await operator.kvtui("nodes", "add", "one", "gpu-a")
    assert added.code == 0, added.stderr
    probed = await operator.kvtui("nodes", "probe", "--json")
    assert probed.code == 0, probed.stderr
    [node] = json.loads(probed.stdout)
    assert (node["name"], node["ssh"], node["state"], node["errors"]) == ("one", "gpu-a", "ready", [])
    assert node["facts"]["hostname"] == socket.gethostname()
    assert node["facts"]["ram_total_bytes"] > 0


async def test_an_unreachable_node_hides_no_other(operator: Operator) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        await operator.kvtui("nodes", "add", "gone", f"127.0.0.1:{closed.getsockname()[1]}")
        await operator.kvtui("nodes", "add", "one", "gpu-a")
        probed = await operator.kvtui("nodes")
    assert probed.code == 3
    rows = {line.split()[0]: line for line in probed.stdout.splitlines() if line.strip()}
    assert " down " in rows["gone"]
    assert " ready " in rows["one"]
    assert "gone (127.0.0.1:" in probed.stderr
    assert "refuses SSH connections" in probed.stderr


async def test_an_alias_is_a_node_too(operator: Operator) -> None:
    probed = await operator.kvtui("nodes", "probe", "gpu-a")
    assert probed.code == 0, probed.stderr
    assert "page cache" in probed.stdout
    assert socket.gethostname() not in probed.stderr


async def test_a_new_host_key_is_refused_where_nobody_can_be_asked(operator: Operator) -> None:
    operator.node.keys.known_hosts.write_text("")
    probed = await operator.kvtui("nodes", "probe", "gpu-a", "--json")
    assert probed.code == 3
    [node] = json.loads(probed.stdout)
    assert (node["state"], node["facts"]) == ("key unknown", None)
    assert "SHA256:" in node["errors"][0]
    assert operator.node.keys.known_hosts.read_text() == ""


def lock_key(operator: Operator) -> None:
    """Give the person's key the passphrase ``secret``."""
    file = operator.node.keys.client
    key = asyncssh.read_private_key(file)
    file.write_bytes(key.export_private_key("openssh", passphrase="secret", rounds=1, ignore_few_rounds=True))


async def attached(operator: Operator, run: str, passphrases: dict[str, str]) -> tuple[int | None, str]:
    """Go on with a run as a process does that was handed passphrases."""
    pipe = asyncio.subprocess.PIPE
    process = await operator.start("attach", run, "--secrets-stdin", stdin=pipe)
    _, stderr = await asyncio.wait_for(
        process.communicate(Secrets(passphrases=passphrases).to_text().encode()), 60
    )
    return process.returncode, stderr.decode()


async def test_a_run_that_goes_on_alone_has_the_passphrases_that_it_was_handed(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = operator.write_plan()
    lock_key(operator)
    launched = await operator.kvtui("launch", plan)
    assert launched.code == 3
    assert "was left out, since it has a passphrase" in launched.stderr
    for name in [name for name in os.environ if name.startswith(("XDG_", "SSH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(operator.home))
    run = (await launch.new_run(load_plan(plan), places(), Quiet(), on_lab=False)).run
    key = str(operator.node.keys.client)
    code, said = await attached(operator, run, {key: "wrong"})
    assert (code, "was left out" in said) == (3, True)
    code, said = await attached(operator, run, {key: "secret"})
    # It is on the node now, and fails there: the engine of this test is none.
    assert (code, "no engine" in said) == (1, True), said


async def test_at_a_terminal_a_person_is_asked(operator: Operator) -> None:
    keys = operator.node.keys
    keys.known_hosts.write_text("")
    lock_key(operator)
    person, program = os.openpty()
    process = await operator.start("nodes", "probe", "gpu-a", terminal=program)
    os.close(program)
    screen = Screen(person)
    try:
        await screen.shows("to be trusted from now on? [y/N]")
        os.write(person, b"y\n")
        await screen.shows("go on without this key")
        os.write(person, b"secret\n")
        stdout, _ = await asyncio.wait_for(process.communicate(), 60)
    finally:
        screen.close()
    assert process.returncode == 0, screen.text
    assert " ready " in stdout.decode()
    assert "secret" not in screen.text
    assert keys.known_hosts.read_text().startswith(f"[127.0.0.1]:{operator.node.port} ssh-ed25519 ")


class Screen:
    """What a terminal shows."""

    def __init__(self, terminal: int) -> None:
        self.text = ""
        self._terminal = terminal
        asyncio.get_running_loop().add_reader(terminal, self._read)

    def _read(self) -> None:
        try:
            self.text += os.read(self._terminal, 65536).decode()
        except OSError:
            # The other end is closed.
            asyncio.get_running_loop().remove_reader(self._terminal)

    async def shows(self, text: str) -> None:
        await reached(lambda: text in self.text)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._terminal)
        os.close(self._terminal)
