"""The Nodes screen, over made-up nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import DataTable, Input, Static

from kvtui.ceilings import Ceiling
from kvtui.hosts_file import HostsError, NodeEntry, Role
from kvtui.listed_node import ListedNode, NodeDown
from kvtui.nodefacts import Gpu, GpuProcess, ModelFolder, Mount, Nic, NodeFacts
from kvtui.plan import Plan
from kvtui.storefacts import StoreFacts
from screens.modals.node_form import NodeForm
from screens.modals.question import Question
from screens.nodes import NodesScreen
from screens.session import Session
from tests.screens.apps import make_app

NOW = 1_000_000.0
TIB = 1024**4
GPU = Gpu(0, "NVIDIA H200", 141 * 1024**3, 3 * 1024**3, 0, "570.86", (GpuProcess(77, "python", None),))
FACTS = NodeFacts(
    name="gpu-a",
    hostname="a",
    python="3.11.7",
    kernel="6.8.0",
    cpu_model="Xeon",
    cores=96,
    numa_nodes=2,
    ram_total_bytes=2 * TIB,
    ram_available_bytes=TIB,
    swap_used_bytes=0,
    gpus=tuple(replace(GPU, index=index) for index in range(8)),
    mounts=(Mount("/mnt/kv", "/dev/nvme0n1", "xfs", "nvme", 7 * TIB, 6 * TIB),),
    nics=(Nic("eth0", 100_000, True),),
    listeners=(),
    thp="madvise",
    can_drop_caches=None,
    in_container=False,
    clock_skew_s=0.002,
    rtt_ms=0.8,
    read_wall_s=NOW,
    versions={"vllm": "0.28.0", "lmcache": "0.5.4"},
    models=(
        ModelFolder("/m/q", "Qwen/Qwen3-4B", 147_456),
        ModelFolder("/m/x", "x", None, "unknown architecture"),
    ),
)
BARE = NodeFacts("valkey", *(None,) * 18, read_wall_s=NOW)
CEILING = Ceiling(
    "gpu-a", "disk-read", "direct, 4 threads", 6.8e9, 6.5e9, 7.0e9, 3, 2**21, 4, "kvtui", "/mnt/kv", NOW - 12
)
DOWN = NodeDown("auth", "gpu-c refused every key [ubuntu].", "Copy a key there: ssh-copy-id ubuntu@10.0.0.13")
STORE = StoreFacts("127.0.0.1:6379", NOW, version="9.1.1", maxmemory_bytes=0, policy="noeviction", keys=12)


class FakeNodes:
    """Three nodes: one whole, one down, one of which nothing is known."""

    def __init__(self, *names: str) -> None:
        self.list = [
            ListedNode(
                NodeEntry(
                    name=name,
                    ssh=f"ubuntu@{name}",
                    roles=(Role.STORE if name == "valkey" else Role.GPU,),
                    model_roots=("/models",),
                )
            )
            for name in names
        ]
        self.measured: list[str] = []

    async def entries(self, plan: Plan | None) -> tuple[ListedNode, ...]:
        """All of them."""
        return tuple(self.list)

    async def save(self, entry: NodeEntry, old_name: str | None) -> None:
        """Keep it, unless there is one of that name."""
        if any(node.name == entry.name for node in self.list if node.name != old_name):
            raise HostsError(f"There is a node {entry.name} already.")
        self.list = [node for node in self.list if node.name != old_name] + [ListedNode(entry)]

    async def remove(self, name: str) -> None:
        """Forget it."""
        self.list = [node for node in self.list if node.name != name]

    async def read(self, node: ListedNode) -> NodeFacts | NodeDown:
        """What the node is."""
        odd: dict[str, NodeFacts | NodeDown] = {"gpu-c": DOWN, "valkey": BARE}
        return odd.get(node.name, replace(FACTS, name=node.name))

    async def read_store(self, node: ListedNode, plan: Plan | None) -> StoreFacts | NodeDown | None:
        """The store of the store node."""
        return STORE if node.name == "valkey" else None

    async def measure(self, node: ListedNode, plan: Plan | None) -> tuple[Ceiling, ...]:
        """Nothing new."""
        self.measured.append(node.name)
        return (CEILING,)

    def ceilings(self, name: str) -> tuple[Ceiling, ...]:
        """Of one node."""
        return (CEILING,) if name == "gpu-a" else ()

    def shell(self, node: ListedNode) -> str:
        """As a person would type it."""
        return f"ssh {node.entry.ssh}"


def app_with(nodes: FakeNodes, *, readonly: bool = False):  # type: ignore[no-untyped-def]
    """The app on the Nodes screen."""
    return make_app(
        {"nodes": lambda session: NodesScreen(session, nodes, lambda: NOW)}, Session(), readonly=readonly
    )


def text(screen: Screen[Any], selector: str) -> str:
    """What a part of the screen says, on one line."""
    drawn = screen.query_one(selector, Static)
    lines = drawn.render_lines(Region(0, 0, 120, 40))
    return " ".join(" ".join(line.text for line in lines).split())


async def test_details_follow_the_cursor() -> None:
    app = app_with(FakeNodes("gpu-a", "gpu-c", "valkey"))
    async with app.run_test(size=(120, 36)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, NodesScreen)
        detail = text(screen, "#detail")
        assert "held by python (77)" in detail
        assert "147,456 B a token" in detail
        assert "unknown architecture" in detail
        assert "6.80 GB/s (6.50 GB/s–7.00 GB/s) · direct, 4 threads · kvtui · /mnt/kv · 12 s ago" in detail
        await pilot.press("j")
        await pilot.pause()
        assert "refused every key [ubuntu]" in text(screen, "#why")
        await pilot.press("j")
        await pilot.pause()
        assert "noeviction" in text(screen, "#detail")
        assert not screen.query_one("#why-panel").display
        assert "2/3 up" in text(screen, "#status")


async def test_the_unknown_is_a_dash_and_never_zero() -> None:
    app = app_with(FakeNodes("valkey"))
    async with app.run_test(size=(120, 36)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        row = [str(cell) for cell in app.screen.query_one(DataTable).get_row_at(0)]
        assert row[4:] == ["?", "–", "–", "–", "–"]


async def test_a_refused_entry_keeps_the_form_open_with_the_reason() -> None:
    nodes = FakeNodes("gpu-a")
    app = app_with(nodes)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("a")
        await pilot.pause()
        form = app.screen
        assert isinstance(form, NodeForm)
        for name, ssh, price, fault in (
            ("b d", "gpu-b", "", "name"),
            ("gpu-b", "a b", "", "ssh"),
            ("gpu-b", "gpu-b", "cheap", "hourly_price"),
            ("gpu-a", "gpu-b", "", "already"),
        ):
            form.query_one("#name", Input).value = name
            form.query_one("#ssh", Input).value = ssh
            form.query_one("#hourly-price", Input).value = price
            await pilot.pause()
            await pilot.press("ctrl+s")
            await pilot.pause()
            assert app.screen is form
            assert fault in str(form.query_one("#why", Static).render())
        form.query_one("#name", Input).value = "gpu-b"
        form.query_one("#hourly-price", Input).value = "2.5"
        await pilot.press("ctrl+s")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert [node.name for node in nodes.list] == ["gpu-a", "gpu-b"]
        assert nodes.list[1].entry.hourly_price == 2.5
        assert app.screen.query_one(DataTable).row_count == 2


async def test_a_field_says_what_is_wrong_as_it_is_typed() -> None:
    app = app_with(FakeNodes())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a")
        await pilot.pause()
        await pilot.press(*"A_")
        await pilot.pause()
        assert app.screen.query_one("#name", Input).has_class("-invalid")
        assert str(app.screen.query_one("#why", Static).render())


async def test_editing_keeps_what_the_form_does_not_change() -> None:
    nodes = FakeNodes("gpu-a")
    before = nodes.list[0].entry
    app = app_with(nodes)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("e")
        await pilot.pause()
        await pilot.press("ctrl+s")
        await app.workers.wait_for_complete()
    assert nodes.list[0].entry == before


async def test_removing_asks_and_escape_keeps() -> None:
    nodes = FakeNodes("gpu-a", "gpu-c")
    app = app_with(nodes)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, Question)
        await pilot.press("escape")
        await pilot.pause()
        assert len(nodes.list) == 2
        await pilot.press("d")
        await pilot.pause()
        await pilot.press("right", "enter")
        await app.workers.wait_for_complete()
        assert [node.name for node in nodes.list] == ["gpu-c"]


async def test_measuring_is_asked_of_the_node_under_the_cursor() -> None:
    nodes = FakeNodes("gpu-a", "gpu-c")
    app = app_with(nodes)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.press("j", "c")
        await app.workers.wait_for_complete()
    assert nodes.measured == ["gpu-c"]


async def test_without_nodes_the_screen_says_what_to_press() -> None:
    app = app_with(FakeNodes())
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "press" not in text(app.screen, "#detail")
        assert "run the default plan on this machine" in text(app.screen, "#empty")
        await pilot.press("b")
        await pilot.pause()
        assert app.session.start_now
        assert app.session.plan is not None
        assert app.session.plan.lab


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 36), (200, 50)])
@pytest.mark.parametrize("names", [("gpu-a", "gpu-b", "gpu-c", "valkey"), ()], ids=["nodes", "empty"])
def test_snapshot(snap_compare, columns: int, rows: int, names: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    async def ready(pilot) -> None:  # type: ignore[no-untyped-def]
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(app_with(FakeNodes(*names)), terminal_size=(columns, rows), run_before=ready)


def test_snapshot_of_a_down_node_without_colour(snap_compare, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("NO_COLOR", "1")

    async def ready(pilot) -> None:  # type: ignore[no-untyped-def]
        await pilot.app.workers.wait_for_complete()
        await pilot.press("j", "j")
        await pilot.pause()

    app = app_with(FakeNodes("gpu-a", "gpu-b", "gpu-c"))
    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)
