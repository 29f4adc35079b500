"""The form: every field of a plan that a person decides on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Button, Select, Static

from kvtui.check import Assessment
from kvtui.loglines import clean
from kvtui.nodefacts import ModelFolder
from kvtui.plan import Hash, Order
from kvtui.plan_draft import Checked, Draft, hidden_fields
from screens.widgets.plan.controls import ChoiceField, Control, TextField, Tick
from screens.widgets.plan.row import Row, controls_of
from screens.widgets.plan.tier_row import TierRow

_ALGORITHMS: tuple[str, ...] = get_args(Hash.model_fields["algorithm"].annotation)


class FoundModels(Select[str]):
    """The models that were found on nodes, to take one of them."""

    @dataclass
    class Taken(Message):
        """A person takes a model."""

        path: str

    def __init__(self) -> None:
        super().__init__([], prompt="found on nodes", compact=True)

    def on_select_changed(self, event: Select.Changed) -> None:
        """Tell which; the field of the path shows it."""
        event.stop()
        if isinstance(event.value, str):
            self.post_message(self.Taken(event.value))
            self.clear()


class PlanForm(VerticalScroll, can_focus=False):
    """The form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    _controls: Mapping[str, Control]

    @dataclass
    class TierAdded(Message):
        """A person wants one more tier."""

    def compose(self) -> ComposeResult:
        """Sections of rows."""
        yield Row("Model", TextField("model.path", "hub id, or a folder on the nodes"))
        yield FoundModels()
        yield Row("Served as", TextField("model.served_name"))
        yield Row("KV a token", TextField("model.kv_bytes_per_token", "unknown"), "bytes")
        yield Row("Documents", TextField("corpus.documents"), "×", TextField("corpus.tokens"), "tokens")
        yield Row("Nodes", Tick("lab", "lab of this machine"))
        yield from self._node_rows()
        yield Static("Tiers", classes="section")
        yield Vertical(id="tiers")
        yield Static("✗ switch a tier on, or add one", id="no-tier", classes="bad")
        yield Button("+ Add a tier", id="add-tier")
        yield Static("Hash and chunk", classes="section")
        yield Row("Algorithm", ChoiceField("hash.algorithm", _ALGORITHMS))
        yield Row("Hash seed", TextField("hash.seed", "empty"), "chunk", TextField("hash.chunk_tokens"))
        yield Row("", Tick("seed.cold.on", "own seed"), TextField("seed.cold"))
        yield Row("", Tick("seed.cached.on", "own seed"), TextField("seed.cached"))
        yield Row("", Tick("hash.accept_differing", "run even if keys differ"))
        yield Static("Order and output", classes="section")
        yield Row("Repeats", TextField("passes.repeats", "1"), "of every tier")
        yield Row("Cold order", ChoiceField("passes.cold_order", ("shuffled", "listed")))
        yield Row("Order", ChoiceField("passes.order", Order), TextField("passes.shuffle_seed", "seed"))
        yield Row("Fleet cold", ChoiceField("passes.fleet_cold", ("own", "shared")))
        yield Row("Output", TextField("engine.output_tokens"), "tokens a request")
        yield Static("Documents", classes="section")
        yield Row("Source", TextField("corpus.source", "generated"))
        yield Row("Seed", TextField("corpus.seed", "1"), "prefix", TextField("corpus.prefix_tokens", "0"))
        yield Static("Engine", classes="section")
        yield Row("Longest", TextField("engine.max_model_len"), "tokens")
        yield Row("dtype", TextField("engine.dtype"))
        yield Row("Options", TextField("engine.extra_args", "--tensor-parallel-size=2"))
        yield Row("Patience", TextField("engine.request_timeout_s"), "s a request")
        yield Row("Password", TextField("store.password_env", "of the store: its variable's name"))

    def _node_rows(self) -> Iterable[Row]:
        yield Row("Cold on", TextField("passes.cold_node", "node"), "ssh", TextField("ssh.cold", "user@host"))
        yield Row(
            "Cached on", TextField("passes.cached_node", "node"), "ssh", TextField("ssh.cached", "user@host")
        )
        yield Row("Store on", TextField("store.node", "node"), "ssh", TextField("ssh.store", "user@host"))
        yield Row("  address", TextField("store.address"), ":", TextField("store.port"))
        yield Row("Passes", Tick("passes.single", "single"), Tick("passes.fleet", "fleet"))

    def show(self, draft: Draft, checked: Checked) -> None:
        """Show the draft, what is wrong with it, and nothing that says nothing."""
        hidden, faults = hidden_fields(draft), checked.faults
        self._show_tiers(draft, faults)
        for row in self.query(Row):
            for control in row.controls:
                control.put(draft.values[control.field])
            row.tell(faults, hidden)
        for role in ("cold", "cached"):
            tick = self._controls[f"seed.{role}.on"]
            if isinstance(tick, Tick):
                tick.relabel(f"own on {draft.values[f'passes.{role}_node'][:12]}")
        no_tier = self.query_one("#no-tier", Static)
        no_tier.display = "tiers" in faults

    def on_mount(self) -> None:
        """Know the controls by their fields."""
        self._controls = {control.field: control for control in controls_of(self)}

    def _show_tiers(self, draft: Draft, faults: Mapping[str, str]) -> None:
        place = self.query_one("#tiers", Vertical)
        rows = {row.key: row for row in place.query(TierRow)}
        wanted = {tier.key: tier for tier in draft.tiers}
        for key, row in rows.items():
            if key in wanted:
                row.put(wanted[key], faults)
            else:
                row.remove()
        new = [TierRow(tier) for key, tier in wanted.items() if key not in rows]
        if new:
            place.mount(*new)

    def know(self, assessment: Assessment | None, draft: Draft) -> None:
        """Capacities end at what the machines have."""
        fits = {fit.tier: fit for fit in assessment.fits} if assessment else {}
        names = {tier.key: tier.values["name"] for tier in draft.tiers if tier.on}
        for row in self.query(TierRow):
            row.fit(fits.get(names.get(row.key, "")))

    def offer(self, nodes: Sequence[str], models: Sequence[ModelFolder]) -> None:
        """Names to complete, and models to take."""
        for name in ("passes.cold_node", "passes.cached_node", "store.node"):
            field = self._controls[name]
            if isinstance(field, TextField):
                field.suggest(nodes)
        found = self.query_one(FoundModels)
        found.set_options([(clean(model.name), model.path) for model in models])
        found.display = bool(models)

    def enter(self) -> None:
        """Go to the first field."""
        next(iter(controls_of(self))).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """One more tier."""
        event.stop()
        self.post_message(self.TierAdded())
