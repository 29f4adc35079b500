"""Plan: the form on the left, what will happen on the right, at every keystroke."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from kvtui.check import Assessment, Known, assess, compare, fix
from kvtui.errors import KvtuiError
from kvtui.findings import Level
from kvtui.loglines import clean
from kvtui.nodefacts import ModelFolder
from kvtui.plan import Node, Plan
from kvtui.plan_draft import Checked, Draft, check, draft_of
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.modals.corpus_reader import CorpusReader
from screens.modals.message import Message
from screens.modals.plan_differences import PlanDifferences
from screens.modals.plan_picker import PlanChoice, PlanPicker
from screens.modals.question import confirm
from screens.modals.secret import AskText
from screens.ports.documents import Documents
from screens.ports.plans import Plans
from screens.session import Session
from screens.widgets.plan.controls import Edited
from screens.widgets.plan.finding_list import FindingList
from screens.widgets.plan.form import FoundModels, PlanForm
from screens.widgets.plan.outlook import (
    fit_lines,
    forecast_lines,
    kv_lines,
    sharing_lines,
    verdict_line,
)
from screens.widgets.plan.tier_row import TierRow

_VIEWS = ("fit", "forecast", "keys")
# An assessment that takes longer than this waits until typing pauses.
_SLOW_S, _PAUSE_S = 0.05, 0.2
# Columns from which two views are seen at once, and from which all are.
_NORMAL, _WIDE = 100, 140


class PlanScreen(KvtuiScreen):
    """The plan that is being made."""

    MODE = "plan"
    CSS_PATH = "plan.tcss"
    AUTO_FOCUS = "#findings"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("plan.save", "ctrl+s", "Save", "Save the plan under a name.", "save", changes=True),
        Command("plan.edit", "i", "Edit", "Go into the form; tab and arrows move, esc leaves.", "edit"),
        Command("plan.leave", "escape", "Keys", "Leave the field, so that letters are keys again.", "leave"),
        Command("plan.open", "o", "Open", "Open a saved plan, or one that comes with kvtui.", "open"),
        Command("plan.launch", "L", "Launch", "Check the nodes and start this plan.", "launch"),
        Command("plan.fix", "f", "Fix", "Mend what the finding under the cursor is about.", "fix"),
        Command("plan.copy", "y", "Copy", "Copy the commands and files that start its engines.", "copy"),
        Command("plan.view", "v", "View", "Show fit, keys or forecast.", "view"),
        Command(
            "plan.export",
            "e",
            "Export",
            "Write the plan as TOML, and copy it.",
            "export",
            changes=True,
            shown=False,
        ),
        Command("plan.compare", "C", "Compare", "Compare with another plan.", "compare", shown=False),
        Command(
            "plan.arithmetic",
            "A",
            "Arithmetic",
            "How the recommendation was reckoned.",
            "arithmetic",
            shown=False,
        ),
        Command(
            "plan.documents", "d", "Documents", "Read the documents that it sends.", "documents", shown=False
        ),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(
        self, session: Session, plans: Plans, in_words: Callable[[float], str], documents: Documents
    ) -> None:
        super().__init__(session)
        self._documents = documents
        self._port = plans
        self._in_words = in_words
        self._draft: Draft | None = None
        self._checked = Checked(None, {})
        self._kept: Plan | None = None
        self._set: Plan | None = None
        self._known = Known()
        self._entered: dict[str, Node] = {}
        self._models: dict[str, ModelFolder] = {}
        self._shipped: Mapping[str, Plan] = {}
        self._found: Assessment | None = None
        self._took_s = 0.0
        self._view = "fit"

    def compose_body(self) -> Iterable[Widget]:
        """The form, the outlook, the findings."""
        form = Vertical(PlanForm(id="form"), id="form-panel", classes="panel")
        fit = VerticalScroll(Static(id="fit"), id="fit-panel", classes="panel view")
        keys = VerticalScroll(Static(id="keys"), id="keys-panel", classes="panel view")
        forecast = VerticalScroll(Static(id="forecast"), id="forecast-panel", classes="panel view")
        findings = Vertical(FindingList(id="findings"), id="findings-panel", classes="panel")
        fit.border_title, keys.border_title, forecast.border_title = "Fit", "Keys", "Forecast"
        forecast.border_subtitle = "A Arithmetic"
        first = Vertical(fit, forecast, id="outlook")
        return [Horizontal(form, Horizontal(first, Vertical(keys, findings, id="judgement"), id="right"))]

    # Where plans come from

    def on_screen_resume(self) -> None:
        """Show the plan that the session has, and what has become known meanwhile."""
        in_background(self, self._resume, "known")

    async def _resume(self) -> None:
        self._shipped = self._port.shipped()
        self._entered = self._read_entries()
        plan = self.session.plan
        if plan is None:
            name, plan = next(iter(self._shipped.items()))
            self._take(plan, name, kept=plan)
        elif plan is not self._set or self._draft is None:
            self._take(plan, self.session.plan_name, kept=plan)
        await self._learn()

    def _read_entries(self) -> dict[str, Node]:
        """The person's nodes; a broken file of them is told of, and hinders nothing else."""
        try:
            entries = self._port.nodes()
        except KvtuiError as error:
            host(self.app).fail(error)
            return {}
        return {
            one.name: Node(ssh=one.ssh, engine_python=one.engine_python, hourly_price=one.hourly_price)
            for one in entries
        }

    def _take(self, plan: Plan, name: str, *, kept: Plan | None) -> None:
        """Put a plan into the form."""
        self._kept = kept
        self.session.plan_name = name
        self._change(draft_of(plan, self._entered))

    async def _learn(self) -> None:
        """What is known of the plan's nodes and model; then everything is reckoned anew."""
        plan = self._checked.plan or self.session.plan
        if plan is None:
            return
        try:
            self._known = await self._port.known(plan)
        except KvtuiError as error:
            self._known = Known()
            self.app.notify(clean(str(error)), severity="error", markup=False)
        models = {
            folder.path: folder for facts in self._known.facts.values() for folder in facts.models or ()
        }
        self._models = models
        self.query_one(PlanForm).offer(tuple(self._entered), tuple(models.values()))
        self._reckon()

    # What a person changes

    def _change(self, draft: Draft) -> None:
        before = self._checked.plan
        self._draft = draft
        self._checked = check(draft)
        plan = self._checked.plan
        if plan is not None:
            self.session.plan = self._set = plan
        self.query_one(PlanForm).show(draft, self._checked)
        self._title()
        if plan is not None and before is not None and _asks_anew(before, plan):
            in_background(self, self._learn, "known")
        else:
            self._reckon()

    def _title(self) -> None:
        panel = self.query_one("#form-panel")
        plan, draft = self._checked.plan, self._draft
        name = self.session.plan_name or (draft.base.name if draft else "")
        changed = plan is None or plan != self._kept
        self.session.unsaved = changed
        panel.border_title = Content(clean(f"Plan: {name}{' · changed' if changed else ''}"))
        faults = len(self._checked.faults)
        other = self._checked.faults.get("", "")
        own = plan is not None and plan == self._shipped.get(name)
        text = "comes with kvtui: i Edit, o Open" if own else ""
        text = f"{faults} to mend · not in the plan yet" if faults else text
        panel.border_subtitle = Content(clean(other or text))
        panel.set_class(bool(faults), "-faulty")

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        if self._draft is None:
            return
        match event.field.split("."):
            case ["tiers", key, name]:
                self._change(self._draft.put_tier(int(key), name, event.text))
            case _:
                self._change(self._draft.put(event.field, event.text))

    @on(PlanForm.TierAdded)
    def _tier_added(self) -> None:
        if self._draft is not None:
            self._change(self._draft.add_tier())

    @on(TierRow.Removed)
    def _tier_removed(self, event: TierRow.Removed) -> None:
        if self._draft is not None:
            self._change(self._draft.remove_tier(event.key))

    @on(FoundModels.Taken)
    def _model_taken(self, event: FoundModels.Taken) -> None:
        folder = self._models.get(event.path)
        if self._draft is None or folder is None:
            return
        draft = self._draft.put("model.path", folder.path).put("model.served_name", folder.name)
        size = folder.kv_bytes_per_token
        self._change(draft.put("model.kv_bytes_per_token", "" if size is None else str(size)))

    # What is said of it

    def _reckon(self) -> None:
        if self._checked.plan is not None:
            in_background(self, self._assess, "assess")

    async def _assess(self) -> None:
        plan = self._checked.plan
        if plan is None:
            return
        if self._took_s > _SLOW_S:
            await asyncio.sleep(_PAUSE_S)
        began = time.perf_counter()
        found = await asyncio.to_thread(assess, plan, self._known)
        self._took_s = time.perf_counter() - began
        before, self._found = self._found, found
        with self.app.batch_update():
            self._draw(plan, before, found)

    def _draw(self, plan: Plan, before: Assessment | None, found: Assessment) -> None:
        """Draw what became different: a table costs more to draw than to reckon."""
        app = self.app
        if before is None or (before.kv, before.fits, before.sharing) != (
            found.kv,
            found.fits,
            found.sharing,
        ):
            short = [Text(), verdict_line(app, found.sharing)] if self._narrow and found.sharing else []
            tiers = fit_lines(app, found, reasons=self.size.width >= _WIDE)
            parts = (kv_lines(app, plan, found.kv), *([] if self._narrow else [Text()]), tiers, *short)
            self.query_one("#fit", Static).update(Group(*parts))
        if before is None or before.sharing != found.sharing:
            self.query_one("#keys", Static).update(sharing_lines(app, found.sharing))
        if before is None or (before.forecast, before.recommendation) != (
            found.forecast,
            found.recommendation,
        ):
            self.query_one("#forecast", Static).update(forecast_lines(app, found, self._in_words))
        if before is None or before.findings != found.findings:
            self._draw_findings(plan, found)
        if self._draft is not None:
            self.query_one(PlanForm).know(found, self._draft)

    def _draw_findings(self, plan: Plan, found: Assessment) -> None:
        fixable = {at for at, one in enumerate(found.findings) if fix(plan, self._known, one) is not None}
        nothing = "Nothing was found that speaks against this plan."
        self.query_one(FindingList).show(found.findings, fixable, nothing)
        blocking = sum(1 for one in found.findings if one.level is Level.BLOCKING)
        panel = self.query_one("#findings-panel")
        panel.border_title = f"Findings ({len(found.findings)})"
        panel.border_subtitle = f"{blocking} of them block the launch" if blocking else ""

    @property
    def _narrow(self) -> bool:
        return self.size.width < _NORMAL

    def on_resize(self, event: events.Resize) -> None:
        """What there is room for."""
        super().on_resize(event)
        self._show_view()
        if self._found is not None and self._checked.plan is not None:
            self._draw(self._checked.plan, None, self._found)

    def _show_view(self) -> None:
        for name in _VIEWS:
            self.query_one(f"#{name}-panel").set_class(name != self._view, "-behind")
        for part in ("#outlook", "#judgement"):
            self.query_one(part).set_class(self._view == "keys", "-keys")
        self.refresh_bindings()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Some keys mean something only at times."""
        if action == "leave":
            return self.focused is not None and self._in_form(self.focused)
        if action == "edit":
            return self.focused is None or not self._in_form(self.focused)
        if action == "view":
            return self.size.width < _WIDE
        return super().check_action(action, parameters)

    def _in_form(self, widget: Widget) -> bool:
        return any(isinstance(one, PlanForm) for one in widget.ancestors)

    def action_edit(self) -> None:
        """Go into the form."""
        self.query_one(PlanForm).enter()

    def action_leave(self) -> None:
        """Leave it."""
        self.query_one(FindingList).focus()

    def action_view(self) -> None:
        """Show the next view; with more room the fit stays, and only the one below it changes."""
        if self._narrow:
            self._view = _VIEWS[(_VIEWS.index(self._view) + 1) % len(_VIEWS)]
        else:
            self._view = "forecast" if self._view == "keys" else "keys"
        self._show_view()

    def _valid(self) -> Plan | None:
        """The plan, or a word on why there is none."""
        if self._checked.plan is None and self._checked.faults:
            field, fault = next(iter(self._checked.faults.items()))
            where = f"{_where(field, self._draft)}: " if field else ""
            self.app.notify(f"Mend the form first. {where}{fault}.", severity="error", markup=False)
        return self._checked.plan

    async def action_launch(self) -> None:
        """Go to Launch with this plan."""
        if self._valid() is not None:
            await self.run_action("app.mode('launch')")

    def action_fix(self) -> None:
        """Mend what the finding under the cursor is about."""
        finding, plan = self.query_one(FindingList).current, self._checked.plan
        if finding is None or plan is None or self._draft is None:
            self.app.notify("There is nothing to fix.", markup=False)
            return
        mended = fix(plan, self._known, finding)
        if mended is None:
            self.app.notify(f"Only you can mend this. {clean(finding.remedy)}", markup=False)
            return
        self._change(self._draft.with_plan(mended.plan))
        self.app.notify(clean(mended.words), title="Fixed", markup=False)

    def action_arithmetic(self) -> None:
        """How the recommendation was reckoned."""
        if self._found is not None:
            told = self._found.recommendation
            lines = told.arithmetic or ("There is nothing to reckon yet.",)
            text = "\n".join(clean(line) for line in (told.sentence, "", *(f"· {line}" for line in lines)))
            self.app.push_screen(Message("Arithmetic", text))

    def action_documents(self) -> None:
        """Read the documents."""
        if (plan := self._valid()) is not None:
            self.app.push_screen(CorpusReader(self.session, self._documents, plan))

    def action_copy(self) -> None:
        """Copy the commands."""
        plan = self._valid()
        if plan is None:
            return
        try:
            text = self._port.commands(plan, self._known)
        except KvtuiError as error:
            self.app.notify(clean(str(error)), severity="error", markup=False)
            return
        host(self.app).copy(text, "the commands")

    def action_export(self) -> None:
        """Write the plan as TOML, and copy it."""
        plan = self._valid()
        if plan is None:
            return
        try:
            path = self._port.export(plan)
            text = self._port.toml(plan)
        except KvtuiError as error:
            self.app.notify(clean(str(error)), severity="error", markup=False)
            return
        host(self.app).copy(text, f"the plan; it is in {path}")

    def action_save(self) -> None:
        """Save the plan under a name."""
        plan = self._valid()
        if plan is not None:
            in_background(self, partial(self._save, plan), "save")

    async def _save(self, plan: Plan) -> None:
        why, name = "Small letters, digits and single dashes.", self.session.plan_name or plan.name
        while True:
            typed = await self.app.push_screen_wait(AskText("Save the plan as", why, name))
            if typed is None:
                return
            name = typed.strip()
            if name in self._port.names() and name != self.session.plan_name:
                lines = (f"There is a plan {name} already. It is replaced by this one.",)
                if await self.app.push_screen_wait(confirm("Save the plan", lines, "Replace")) != "do":
                    continue
            try:
                kept = self._port.save(name, plan)
            except KvtuiError as error:
                why = clean(str(error))
                continue
            self._take_saved(kept, name)
            return

    def _take_saved(self, kept: Plan, name: str) -> None:
        if self._draft is not None:
            self._kept = kept
            self.session.plan_name = name
            self._change(self._draft.with_plan(kept))
            self.app.notify(f"Saved as {name}.", markup=False)

    def _choices(self) -> list[PlanChoice]:
        saved = [PlanChoice("saved", name) for name in self._port.names()]
        return saved + [PlanChoice("shipped", name) for name in self._shipped]

    def _load(self, choice: PlanChoice) -> Plan:
        if choice.source == "shipped":
            return self._shipped[choice.name]
        return self._port.load(choice.name)

    def action_open(self) -> None:
        """Open another plan."""
        in_background(self, self._open, "open")

    async def _open(self) -> None:
        choice = await self.app.push_screen_wait(PlanPicker("Open a plan", self._choices()))
        if choice is None:
            return
        plan = self._load(choice)
        if self._draft is not None and self._checked.plan != self._kept:
            lines = ("The plan in the form has changes that are not saved. They would be lost.",)
            if await self.app.push_screen_wait(confirm("Open a plan", lines, "Open")) != "do":
                return
        self._take(plan, choice.name, kept=plan)
        in_background(self, self._learn, "known")

    def action_compare(self) -> None:
        """Compare with another plan."""
        in_background(self, self._compare, "open")

    async def _compare(self) -> None:
        plan = self._valid()
        if plan is None:
            return
        choice = await self.app.push_screen_wait(PlanPicker("Compare with", self._choices()))
        if choice is None:
            return
        found = compare(plan, self._load(choice), self._known)
        self.app.push_screen(PlanDifferences("this plan", choice.name, found))


def _asks_anew(before: Plan, after: Plan) -> bool:
    """Whether another plan asks for other knowledge."""

    def asked(plan: Plan) -> object:
        return plan.model.served_name, plan.lab, plan.corpus.prompt_tokens, plan.engine_nodes, plan.store

    return asked(before) != asked(after)


def _where(field: str, draft: Draft | None) -> str:
    """A field in words."""
    match field.split("."):
        case ["tiers", key, name] if draft is not None:
            names = [tier.values["name"] for tier in draft.tiers if str(tier.key) == key]
            return clean(f"tier {names[0] if names else key}, {name}")
    return field
