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

from kvtui.errors import KvtuiError
from kvtui.hosts_file import NodeEntry, Role, field_fault, make_entry
from kvtui.loglines import clean

# Field, label, example; a list is written with commas.
_FIELDS = (
    ("name", "Name in plans", "gpu-a"),
    ("ssh", "SSH: an alias, or user@host:port", "ubuntu@10.0.0.11"),
    ("identity_file", "Private key, if not those of ssh", "~/.ssh/id_ed25519"),
    ("engine_python", "Python of vLLM's environment", "~/kvtui-engine/bin/python"),
    ("model_roots", "Folders with models", "/models, /mnt/models"),
    ("hourly_price", "Price an hour", "2.50"),
)


def _id(field: str) -> str:
    return field.replace("_", "-")


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return "" if value is None else str(value)


def _typed(field: str, text: str) -> object:
    """What a person typed, as the field's type; text that is no number stays text, to be refused."""
    text = text.strip()
    if field == "model_roots":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if field == "hourly_price":
        try:
            return float(text)
        except ValueError:
            return text
    return text


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

    def compose(self) -> ComposeResult:
        """A labelled input a field, the roles, and why it cannot be saved."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = f"Node {self._entry.name}" if self._entry else "New node"
            dialog.border_subtitle = "^s Save · esc Cancel"
            for field, label, example in _FIELDS:
                with Horizontal(classes="field"):
                    yield Label(label, classes="muted")
                    value = _shown(getattr(self._entry, field)) if self._entry else ""
                    yield Input(value, placeholder=example, id=_id(field), compact=True)
            with Horizontal(classes="field"):
                yield Label("It is for", classes="muted")
                for role in Role:
                    chosen = role in self._entry.roles if self._entry else role is Role.GPU
                    yield Checkbox(role, chosen, id=f"role-{role}", compact=True)
            yield Static(id="why", classes="bad", markup=False)
            with Horizontal(classes="buttons"):
                yield Button("Cancel", id="cancel")
                yield Button("Save", id="save", variant="primary")

    def _fields(self) -> dict[str, object]:
        """What was typed; an empty field is left to its default."""
        fields: dict[str, object] = {
            "roles": tuple(role for role in Role if self.query_one(f"#role-{role}", Checkbox).value)
        }
        for field, *_ in _FIELDS:
            text = self.query_one(f"#{_id(field)}", Input).value
            if text.strip():
                fields[field] = _typed(field, text)
        return fields

    def _say(self, text: str) -> None:
        self.query_one("#why", Static).update(clean(text))

    @on(Input.Changed)
    def _check(self, event: Input.Changed) -> None:
        field = (event.input.id or "").replace("-", "_")
        fault = field_fault(field, _typed(field, event.value)) if event.value.strip() else None
        event.input.set_class(fault is not None, "-invalid")
        self._say(fault or "")

    async def action_save(self) -> None:
        """Save and close, or say why not."""
        try:
            entry = make_entry(self._fields())
            await self._save(entry)
        except KvtuiError as error:
            self._say(error.message)
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
