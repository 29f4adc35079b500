"""Nodes: which machines there are, what they are made of, and why one cannot be reached."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from kvtui.hosts_file import NodeEntry
from kvtui.listed_node import ListedNode, NodeDown
from kvtui.loglines import clean
from kvtui.node_findings import node_findings
from kvtui.node_words import ceiling_lines, details, finding_lines, row_cells, store_lines
from kvtui.nodefacts import NodeFacts
from kvtui.store_findings import store_findings
from kvtui.storefacts import StoreFacts
from kvtui.units import DASH
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.modals.node_form import NodeForm
from screens.modals.question import confirm
from screens.ports.nodes import Nodes
from screens.session import Session, Status
from screens.signs import sign_text
from screens.widgets.facts import facts_grid
from screens.widgets.filter_table import Column, FilterTable, TableRow

_COLUMNS = (
    Column("sign", ""),
    Column("name", "NAME"),
    Column("ssh", "HOST"),
    Column("state", "STATE"),
    Column("gpu", "GPU"),
    Column("hbm", "HBM", right=True, least=100),
    Column("ram", "RAM", right=True),
    Column("disk", "DISK FREE", right=True),
    Column("nic", "NIC", right=True, least=100),
)
_FIRST_STEPS = (
    "No nodes yet. There are two ways to begin:\n\n"
    "b  run the default plan on this machine, in the lab: real vLLM, LMCache\n"
    "   and Valkey, small enough for a laptop, no GPU needed\n"
    "a  add a machine of your own, as you would name it to ssh"
)


class NodesScreen(KvtuiScreen):
    """The table of nodes, and the one under the cursor in full."""

    MODE = "nodes"
    CSS_PATH = "nodes.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command(
            "nodes.begin",
            "b",
            "Begin",
            "Run the default plan on the lab of this machine.",
            "begin",
            changes=True,
        ),
        Command("nodes.add", "a", "Add", "Add a node.", "add", changes=True),
        Command("nodes.edit", "e", "Edit", "Change the node under the cursor.", "edit", changes=True),
        Command("nodes.remove", "d", "Remove", "Forget the node.", "remove", changes=True, shown=False),
        Command("nodes.probe", "r", "Probe", "Read the node under the cursor again.", "probe", shown=False),
        Command("nodes.probe_all", "R", "Probe all", "Read all nodes again, at once.", "probe_all"),
        Command(
            "nodes.ceilings", "c", "Ceilings", "Measure disk, network and memory of the node.", "measure"
        ),
        Command(
            "nodes.copy",
            "y",
            "Copy ssh",
            "Copy the command that opens a shell there.",
            "copy_shell",
            shown=False,
        ),
        Command("nodes.filter", "slash", "Filter", "Show only nodes that match.", "filter", label="/"),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(self, session: Session, nodes: Nodes, clock: Callable[[], float] = time.time) -> None:
        super().__init__(session)
        self._port = nodes
        self._clock = clock
        self._listed: tuple[ListedNode, ...] = ()
        self._found: dict[str, NodeFacts | NodeDown] = {}
        self._stores: dict[str, StoreFacts | NodeDown] = {}
        self._busy: dict[str, str] = {}

    def compose_body(self) -> Iterable[Widget]:
        """Table, details, and why a node is down."""
        nodes = Vertical(FilterTable(_COLUMNS, _FIRST_STEPS, id="table"), id="nodes", classes="panel")
        nodes.border_title = "Nodes"
        detail = VerticalScroll(Static(id="detail"), id="detail-panel", classes="panel")
        why = Vertical(Static(id="why"), id="why-panel", classes="panel")
        return [nodes, detail, why]

    def on_mount(self) -> None:
        """Read everything once."""
        self.action_probe_all()

    @property
    def _current(self) -> ListedNode | None:
        key = self.query_one(FilterTable).current
        return next((node for node in self._listed if node.name == key), None)

    async def _load(self) -> None:
        self._listed = await self._port.entries(self.session.plan)
        known = {node.name for node in self._listed}
        self._found = {name: found for name, found in self._found.items() if name in known}
        self._draw()

    async def _read(self, node: ListedNode) -> None:
        self._busy[node.name] = "reading"
        self._draw()
        try:
            self._found[node.name] = await self._port.read(node)
            store = await self._port.read_store(node, self.session.plan)
            if store is not None:
                self._stores[node.name] = store
        finally:
            self._busy.pop(node.name, None)
            self._draw()

    async def _read_all(self, entries: Sequence[ListedNode]) -> None:
        async with asyncio.TaskGroup() as group:
            for node in entries:
                group.create_task(self._read(node))

    def _state(self, node: ListedNode) -> tuple[str, str]:
        if node.name in self._busy:
            return "◐", self._busy[node.name]
        found = self._found.get(node.name)
        if found is None:
            return "·", "not read"
        return ("✗", found.state) if isinstance(found, NodeDown) else ("●", "ready")

    def _row(self, node: ListedNode) -> TableRow:
        sign, state = self._state(node)
        found = self._found.get(node.name)
        cells = row_cells(found) if isinstance(found, NodeFacts) else (DASH,) * 5
        texts = (node.name, node.entry.ssh, state, *cells)
        return TableRow(node.name, (sign_text(self.app, sign), *(clean(text) for text in texts)))

    def _draw(self) -> None:
        table = self.query_one(FilterTable)
        table.set_rows([self._row(node) for node in self._listed])
        self.query_one("#nodes").border_title = f"Nodes ({len(self._listed)})"
        self.query_one("#detail-panel").display = bool(self._listed)
        up = sum(1 for node in self._listed if self._state(node)[0] == "●")
        if self.session.live_run is None and self._listed:
            level: Status = Status("●", f"{up}/{len(self._listed)} up", "success" if up else "muted")
            self.session.say(level)
        self._draw_detail()

    def _draw_detail(self) -> None:
        node = self._current
        panel = self.query_one("#detail-panel")
        why = self.query_one("#why-panel")
        found = self._found.get(node.name) if node else None
        why.set_class(isinstance(found, NodeDown), "-shown")
        if node is None:
            return
        panel.border_title = clean(f"{node.name} · {', '.join(node.entry.roles)}")
        panel.border_subtitle = {"hosts": "", "lab": "the lab on this machine", "plan": "named by the plan"}[
            node.source
        ]
        lines = [("ssh", node.entry.ssh)]
        if isinstance(found, NodeFacts):
            lines += finding_lines(node_findings(found))
            lines += details(found)
        store = self._stores.get(node.name)
        if isinstance(store, StoreFacts):
            lines += finding_lines(store_findings(store))
            lines += store_lines(store)
        elif isinstance(store, NodeDown):
            lines.append(("store", f"{store.text} {store.remedy}"))
        ceilings = self._port.ceilings(node.name)
        lines += ceiling_lines(ceilings, self._clock())
        if not ceilings:
            lines.append(("ceilings", "not measured: press c"))
        self.query_one("#detail", Static).update(facts_grid(self.app, lines))
        if isinstance(found, NodeDown):
            why.border_title = clean(f"Why {node.name} is down")
            self.query_one("#why", Static).update(Content(clean(f"{found.text}\n{found.remedy}")))

    @on(FilterTable.Moved)
    def _moved(self) -> None:
        self._draw_detail()

    def on_resize(self, event: events.Resize) -> None:
        """A narrow terminal gets fewer columns."""
        super().on_resize(event)
        self.query_one(FilterTable).set_width(event.size.width)

    def on_screen_resume(self) -> None:
        """The lab may have come or gone, the plan may name other nodes."""
        in_background(self, self._load, "entries")

    def action_probe(self) -> None:
        """Read one node."""
        if (node := self._current) is not None:
            in_background(self, partial(self._read, node), f"read-{node.name}")

    def action_probe_all(self) -> None:
        """Read all nodes at once."""

        async def work() -> None:
            await self._load()
            await self._read_all(self._listed)

        in_background(self, work, "read")

    def action_measure(self) -> None:
        """Measure the ceilings of one node."""
        node = self._current
        if node is None or node.name in self._busy:
            return

        async def work() -> None:
            self._busy[node.name] = "measuring"
            self._draw()
            try:
                await self._port.measure(node, self.session.plan)
            finally:
                self._busy.pop(node.name, None)
                self._draw()

        in_background(self, work, f"measure-{node.name}")

    def action_add(self) -> None:
        """Enter a new node."""
        self._edit(None)

    def action_edit(self) -> None:
        """Change a node of one's own."""
        node = self._current
        if node is not None and node.source != "hosts":
            self.app.notify(
                f"{node.name} comes from the {node.source}: add a node of your own.", markup=False
            )
        elif node is not None:
            self._edit(node)

    def _edit(self, old: ListedNode | None) -> None:
        async def save(entry: NodeEntry) -> None:
            await self._port.save(entry, old.name if old else None)

        async def work() -> None:
            entry = await self.app.push_screen_wait(NodeForm(old.entry if old else None, save))
            if entry is not None:
                await self._load()
                self.query_one(FilterTable).move_to(entry.name)
                await self._read_all([node for node in self._listed if node.name == entry.name])

        in_background(self, work, "edit")

    def action_remove(self) -> None:
        """Forget a node of one's own."""
        node = self._current
        if node is None or node.source != "hosts":
            return

        async def work() -> None:
            lines = (
                f"{node.name} ({node.entry.ssh}) leaves the list of nodes.",
                "Nothing on the machine itself is touched.",
            )
            if await self.app.push_screen_wait(confirm("Remove a node", lines, "Remove")) == "do":
                await self._port.remove(node.name)
                await self._load()

        in_background(self, work, "edit")

    def action_copy_shell(self) -> None:
        """Copy the command that opens a shell."""
        if (node := self._current) is not None:
            host(self.app).copy(self._port.shell(node), f"the way to {node.name}")

    def action_filter(self) -> None:
        """Show fewer rows."""
        self.query_one(FilterTable).start_filter()

    def action_begin(self) -> None:
        """Run the default plan on the lab."""
        host(self.app).begin_lab()
