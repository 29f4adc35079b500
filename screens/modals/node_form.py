"""Adds or changes a node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Checkbox, Input, Label, Static

from kvtui.loglines import clean
from screens.ports.nodes import ROLES, NodeEntry

_FIELDS = (
    ("name", "Name in plans", "gpu-a"),
    ("ssh", "SSH: an alias, or user@host:port", "ubuntu@10.0.0.11"),
    ("engine_python", "Python of vLLM's environment (gpu)", "~/kvtui-engine/bin/python"),
    ("hourly_price", "Price an hour (optional)", "2.50"),
)


class NodeForm(ModalScreen[NodeEntry | None]):
    """The fields of a node; it closes only when the node could be saved.

    Args:
        entry: The node to change, or ``None`` for a new one.
        save: Saves it; what it raises is shown, and the form stays open.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("ctrl+s", "save", "Save"),
    ]

    def __init__(self, entry: NodeEntry | None, save: Callable[[NodeEntry], Awaitable[None]]) -> None:
        super().__init__()
        self._entry = entry
        self._save = save

    def _value(self, field: str) -> str:
        value = getattr(self._entry, field) if self._entry else ""
        return "" if value is None else str(value)

    def compose(self) -> ComposeResult:
        """A labelled input a field, the roles, and why it cannot be saved."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = f"Node {self._entry.name}" if self._entry else "New node"
            dialog.border_subtitle = "^s Save · esc Cancel"
            for field, label, example in _FIELDS:
                yield Label(label, classes="muted")
                yield Input(self._value(field), placeholder=example, id=field.replace("_", "-"))
            with Horizontal(id="roles"):
                for role in ROLES:
                    chosen = role in self._entry.roles if self._entry else role == "gpu"
                    yield Checkbox(role, chosen, id=f"role-{role}", compact=True)
            yield Static(id="why", classes="bad", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="cancel")
                yield Button("Save", id="save", variant="primary")

    def _read(self) -> NodeEntry | str:
        """The entry as it stands in the fields, or what is wrong with them."""
        values = {field: self.query_one(f"#{field.replace('_', '-')}", Input).value for field, *_ in _FIELDS}
        price: float | None = None
        if text := values["hourly_price"].strip():
            try:
                price = float(text)
            except ValueError:
                return f"Price an hour: {text} is no number."
        roles = tuple(role for role in ROLES if self.query_one(f"#role-{role}", Checkbox).value)
        if not roles:
            return "Choose a role: gpu, store, or both."
        return NodeEntry(
            values["name"].strip(), values["ssh"].strip(), roles, values["engine_python"].strip(), price
        )

    def _say(self, text: str) -> None:
        self.query_one("#why", Static).update(clean(text))

    async def action_save(self) -> None:
        """Save and close, or say why not."""
        entry = self._read()
        if isinstance(entry, str):
            self._say(entry)
            return
        try:
            await self._save(entry)
        except Exception as error:  # noqa: BLE001 - every refusal is shown where the field is
            self._say(str(error))
            return
        self.dismiss(entry)

    @on(Button.Pressed, "#save")
    @on(Input.Submitted)
    async def _saved(self) -> None:
        await self.action_save()

    @on(Button.Pressed, "#cancel")
    def action_cancel(self) -> None:
        """Close without saving."""
        self.dismiss(None)
