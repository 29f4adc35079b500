"""The agent's commands about the machine, its ports, files and claims."""

from __future__ import annotations

import base64
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.remote.node_runner import LocalNode, answer_of


def test_unknown_commands_and_missing_arguments_are_refused(local: LocalNode) -> None:
    assert local.ask("no-such")["error"] == "bad-request"
    refused = local.ask("tail", path="x", offset=0)
    assert refused == {"ok": False, "error": "bad-request", "message": "tail needs 'max_bytes'."}


def test_facts(local: LocalNode) -> None:
    facts = local.do("facts", paths=["not/yet/there"])
    assert facts["cores"] >= 1
    assert 0 < facts["ram_available_bytes"] <= facts["ram_total_bytes"]
    assert facts["hostname"] == socket.gethostname()
    disk = facts["disks"]["not/yet/there"]
    free = os.statvfs(local.home)
    assert abs(disk["free_bytes"] - free.f_bavail * free.f_frsize) < 1 << 30
    assert isinstance(facts["gpus"], list)
    assert "lo" not in [nic["name"] for nic in facts["nics"]]


def test_free_ports_are_free_apart_and_reserved(local: LocalNode) -> None:
    bases = local.do("free-ports", runs=[1, 2, 3])["bases"]
    ports = [base + i for base, length in zip(bases, (1, 2, 3), strict=True) for i in range(length)]
    assert len(set(ports)) == 6
    for port in ports:
        with socket.socket() as candidate:
            candidate.bind(("0.0.0.0", port))  # noqa: S104
    later = local.do("free-ports", runs=[1] * 20)["bases"]
    assert set(later).isdisjoint(ports)


def test_two_callers_at_once_never_get_the_same_port(local: LocalNode, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    nodes = [local, LocalNode(tmp_path / "other")]
    answers = [answer_of(p) for p in [node.start("free-ports", runs=[2] * 25) for node in nodes * 2]]
    bases = [base for answer in answers for base in answer["bases"]]
    assert len(bases) == len({*bases, *(base + 1 for base in bases)}) / 2 == 100


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(self.headers["X-Test"].encode() + b" " + body + b" \xff")

    def do_GET(self) -> None:
        """Send one byte after the other, so that no single wait is a long one."""
        self.send_response(200)
        self.end_headers()
        try:
            while not stop_trickling.wait(0.05):
                self.wfile.write(b".")
        except OSError:
            pass

    def log_message(self, *args: object) -> None:
        pass


stop_trickling = threading.Event()


@pytest.fixture
def web_port() -> Iterator[int]:
    stop_trickling.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        stop_trickling.set()
        server.shutdown()
        thread.join()


def test_http(local: LocalNode, web_port: int) -> None:
    answer = local.do(
        "http", port=web_port, method="POST", path="/x", headers={"X-Test": "yes"}, body=[1], timeout_s=5
    )
    assert (answer["status"], answer["text"]) == (201, "yes [1] �")


def test_http_is_bounded_as_a_whole(local: LocalNode, web_port: int) -> None:
    assert local.ask("http", port=web_port, method="GET", path="/", timeout_s=0.4)["error"] == "timeout"


def test_http_refused_and_not_http(local: LocalNode) -> None:
    free = local.do("free-ports", runs=[1])["bases"][0]
    assert local.ask("http", port=free, method="GET", path="/", timeout_s=5)["error"] == "refused"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asked = local.start("http", port=listener.getsockname()[1], method="GET", path="/", timeout_s=5)
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"+PONG\r\n")
    assert answer_of(asked)["error"] == "broken"


def test_tail_reads_on_from_an_offset(local: LocalNode, node_home: Path) -> None:
    assert local.do("tail", path="log", offset=0, max_bytes=9)["size"] == 0
    (node_home / "log").write_bytes(b"ab\xff\x00cd")
    first = local.do("tail", path="log", offset=0, max_bytes=4)
    assert base64.b64decode(first["data_b64"]) == b"ab\xff\x00"
    assert (first["next"], first["size"]) == (4, 6)
    second = local.do("tail", path=str(node_home / "log"), offset=4, max_bytes=100)
    assert (base64.b64decode(second["data_b64"]), second["next"]) == (b"cd", 6)
    assert local.do("tail", path="log", offset=6, max_bytes=100)["next"] == 6


@pytest.fixture
def tier(node_home: Path) -> Path:
    """A directory with two own files among others."""
    directory = node_home / "tier"
    (directory / "sub@run1").mkdir(parents=True)
    (directory / "a@run1.pt").write_bytes(b"1" * 10000)
    (directory / "b@run1.pt").write_bytes(b"2" * 5000)
    (directory / "c@run2.pt").write_bytes(b"3" * 100)
    (directory / "link@run1").symlink_to(directory / "c@run2.pt")
    return directory


def test_own_files_are_counted_and_removed_and_no_others(local: LocalNode, tier: Path) -> None:
    assert local.do("files", dir=str(tier), contains="@run1") == {"ok": True, "count": 2, "bytes": 15000}
    assert local.do("remove-files", dir=str(tier), contains="@run1") == {
        "ok": True,
        "removed": 2,
        "bytes": 15000,
    }
    assert sorted(p.name for p in tier.iterdir()) == ["c@run2.pt", "link@run1", "sub@run1"]
    assert local.do("remove-files", dir=str(tier), contains="@run1")["removed"] == 0
    assert local.do("files", dir="absent", contains="x")["count"] == 0


@pytest.mark.parametrize("command", ["files", "remove-files", "make-cold"])
def test_an_empty_name_part_is_refused(local: LocalNode, tier: Path, command: str) -> None:
    assert local.ask(command, dir=str(tier), contains="")["error"] == "bad-request"


def test_own_files_are_made_cold(local: LocalNode, tier: Path) -> None:
    (tier / "empty@run1").touch()
    answer = local.do("make-cold", dir=str(tier), contains="@run1")
    pages = sum(-(-size // os.sysconf("SC_PAGE_SIZE")) for size in (10000, 5000))
    assert (answer["files"], answer["resident_pages_before"]) == (3, pages)
    assert (answer["resident_pages_after"], answer["dropped_caches"]) == (0, False)
    assert (tier / "a@run1.pt").read_bytes() == b"1" * 10000


def test_a_tree_is_removed_only_below_the_own_directory(local: LocalNode, node_home: Path) -> None:
    inside, outside = node_home / ".kvtui" / "runs" / "r1", node_home / "precious"
    for path in (inside, outside):
        path.mkdir(parents=True)
        (path / "file").touch()
    (node_home / ".kvtui" / "exit").symlink_to(outside)
    for path in (outside, node_home / ".kvtui", inside / ".." / ".." / ".." / "precious", Path("/")):
        assert local.ask("remove-tree", dir=str(path))["error"] == "outside"
    assert local.ask("remove-tree", dir=str(node_home / ".kvtui/exit/file"))["error"] == "outside"
    assert local.do("remove-tree", dir=str(node_home / ".kvtui/exit"))["removed"]
    assert (outside / "file").exists()
    assert local.do("remove-tree", dir=".kvtui/runs/r1")["removed"]
    assert not inside.exists()
    assert local.do("remove-tree", dir=".kvtui/runs/r1")["removed"]


def test_one_run_at_a_time_claims_the_node(local: LocalNode) -> None:
    first = local.do("lock", run="run-1", owner="ann@host", lease_s=60)
    again = local.do("lock", run="run-1", owner="ann@host", lease_s=60)
    assert again["since_wall_s"] == first["since_wall_s"]
    refused = local.ask("lock", run="run-2", owner="bob@host", lease_s=60)
    assert (refused["error"], refused["run"], refused["owner"]) == ("locked", "run-1", "ann@host")
    assert (refused["since_wall_s"], refused["alive"]) == (first["since_wall_s"], False)
    assert local.do("unlock", run="run-2")["unlocked"] is False
    assert local.do("unlock", run="run-1")["unlocked"] is True
    assert local.do("lock", run="run-2", owner="bob@host", lease_s=60)["owner"] == "bob@host"


def test_an_expired_claim_holds_while_its_processes_live(local: LocalNode) -> None:
    local.do("lock", run="run-1", owner="ann@host", lease_s=0)
    local.spawn("d", "sleep", "60", marker="run-1")
    refused = local.ask("lock", run="run-2", owner="bob@host", lease_s=60)
    assert (refused["error"], refused["alive"]) == ("locked", True)
    local.do("stop", dir="d", grace_s=5)
    assert local.do("lock", run="run-2", owner="bob@host", lease_s=60)["run"] == "run-2"
