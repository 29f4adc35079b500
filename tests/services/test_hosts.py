"""The file of nodes on disk: whole or nothing, links kept, faults in one sentence."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from kvtui.hosts_file import HostsError, NodeEntry, Role
from kvtui.lab import lab_paths
from kvtui.paths import places
from kvtui.services.hosts import HostsStore, host_spec, known_nodes
from remote.hosts import HostSpec
from remote.lab import info
from remote.lab.info import LabInfo, LabParts, StoreAddress
from remote.lab.locks import FileLock

A = NodeEntry(name="a", ssh="one")
B = NodeEntry(name="b", ssh="ann@two:2222")


def test_add_edit_remove(tmp_path: Path) -> None:
    store = HostsStore(tmp_path / "config")
    assert store.load() == ()
    store.add(A)
    store.add(B)
    changed = A.model_copy(update={"ssh": "three"})
    store.edit("a", changed)
    assert store.load() == (changed, B)
    store.remove("a")
    assert store.load() == (B,)
    assert [path.name for path in store.config.iterdir()] == ["hosts.toml"]


def test_a_refused_change_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    store = HostsStore(tmp_path)
    store.path.write_text("# mine\n[nodes.a]\nssh = 'one'\n")
    with pytest.raises(HostsError, match="There is a node a already"):
        store.add(A)
    assert store.path.read_text().startswith("# mine")
    store.path.write_text("[nodes.a]\nssh = 'one'\nother = 1\n")
    with pytest.raises(HostsError, match=r"hosts\.toml:3: nodes\.a\.other: unknown field"):
        store.add(B)
    assert "other" in store.path.read_text()


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    store = HostsStore(tmp_path)
    store.path.write_bytes(b"[nodes.a]\nssh = '\xff'\n")
    with pytest.raises(HostsError, match=r"hosts\.toml:2: this is not UTF-8"):
        store.load()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file")
    with pytest.raises(HostsError, match=r"hosts\.toml cannot be"):
        HostsStore(tmp_path / "config").add(A)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "nodes.toml"
    real.parent.mkdir()
    real.write_text("")
    store = HostsStore(tmp_path / "config")
    store.config.mkdir()
    store.path.symlink_to(real)
    store.add(A)
    assert store.path.is_symlink()
    assert "one" in real.read_text()
    assert stat.S_ISREG(real.stat().st_mode)


def test_changes_at_once_lose_none(tmp_path: Path) -> None:
    entries = [NodeEntry(name=f"n{number}", ssh="one") for number in range(12)]
    threads = [threading.Thread(target=HostsStore(tmp_path).add, args=(entry,)) for entry in entries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {entry.name for entry in HostsStore(tmp_path).load()} == {entry.name for entry in entries}


def test_how_a_node_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert host_spec(B) == HostSpec("b", "two", 2222, "ann")
    entry = NodeEntry(name="c", ssh="[::1]:22", identity_file="~/.ssh/kv")
    assert host_spec(entry) == HostSpec("c", "::1", 22, client_keys=("/home/ann/.ssh/kv",))


def lab_info() -> LabInfo:
    names = ("gpu-a", "gpu-b", "valkey")
    return LabInfo(
        lab_id="x",
        daemon_pid=1,
        guard_pid=2,
        started_wall_s=0,
        idle_lease_s=None,
        nodes={name: HostSpec(name, "127.0.0.1", 2200, "kvtui", config=None) for name in names},
        store=StoreAddress("127.0.0.1", 7000, 1, 3),
        parts=LabParts("/env/bin/python", "/valkey", "/models/tiny", "/dir", "module", "tiny"),
    )


def test_the_labs_nodes_are_there_while_it_is_up(own_places: Path) -> None:
    lab = lab_paths(places())
    lab.root.mkdir(parents=True)
    HostsStore(places().config).add(NodeEntry(name="gpu-b", ssh="mine"))
    info.write(lab_info(), lab.info)
    # Its description alone is not enough: a lab that died leaves it.
    assert [node.entry.name for node in known_nodes(places())] == ["gpu-b"]
    with FileLock(lab.daemon_lock) as lock:
        assert lock.try_take()
        nodes = {node.entry.name: node for node in known_nodes(places())}
    assert [(name, node.lab) for name, node in nodes.items()] == [
        ("gpu-b", False),
        ("gpu-a", True),
        ("valkey", True),
    ]
    engine = nodes["gpu-a"]
    assert (engine.entry.ssh, engine.entry.roles) == ("kvtui@127.0.0.1:2200", (Role.GPU,))
    assert (engine.entry.engine_python, engine.entry.model_roots) == ("/env/bin/python", ("/models",))
    assert engine.lab_store == ("127.0.0.1", 7000)
    assert engine.host.config is None
    assert nodes["valkey"].entry.roles == (Role.STORE,)


def test_without_a_lab_the_nodes_are_those_of_the_file(own_places: Path) -> None:
    assert known_nodes(places()) == ()
    HostsStore(places().config).add(A)
    [node] = known_nodes(places())
    assert (node.entry, node.host, node.lab) == (A, HostSpec("a", "one"), False)
