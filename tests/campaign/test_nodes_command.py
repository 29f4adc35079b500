"""``kvtui nodes probe`` against nodes: found, unreachable, not trusted, not known."""

from __future__ import annotations

import json
import socket

from tests.campaign.conftest import Operator


async def test_what_nodes_are_made_of(operator: Operator) -> None:
    added = await operator.kvtui("nodes", "add", "one", "gpu-a")
    assert added.code == 0, added.stderr
    probed = await operator.kvtui("nodes", "probe", "--json")
    assert probed.code == 0, probed.stderr
    [node] = json.loads(probed.stdout)
    assert (node["name"], node["ssh"], node["state"], node["error"]) == ("one", "gpu-a", "ready", None)
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
    assert "SHA256:" in node["error"]
    assert operator.node.keys.known_hosts.read_text() == ""
