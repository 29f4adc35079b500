"""Plan: the form on the left, what will happen on the right, at every keystroke."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from kvtui.check import Assessment, Known, assess, compare, fix
from kvtui.errors import KvtuiError
from kvtui.loglines import clean
from kvtui.plan import Node, Plan
from kvtui.plan_draft import Draft
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import bindings
from screens.modals.corpus_reader import CorpusReader
from screens.modals.message import Message
from screens.modals.model_picker import ModelPicker
from screens.modals.plan_differences import PlanDifferences
from screens.plan_commands import COMMANDS
from screens.plan_desk import PlanDesk
from screens.plan_files import PlanFiles
from screens.ports.documents import Documents
from screens.ports.plans import Plans
from screens.session import Session
from screens.widgets.plan.finding_list import FindingList
from screens.widgets.plan.form import PlanForm
from screens.widgets.plan.panels import WIDE, PlanPanels
from screens.widgets.plan.rows import ADD_TIER, MODELS

# An assessment that takes longer than this waits until typing pauses.
_SLOW_S, _PAUSE_S = 0.05, 0.2


class PlanScreen(KvtuiScreen):
    """The plan that is being made."""

    MODE = "plan"
    CSS_PATH = "plan.tcss"
    AUTO_FOCUS = "#findings"
    ACTIONS = COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(
        self, session: Session, plans: Plans, in_words: Callable[[float], str], documents: Documents
    ) -> None:
        super().__init__(session)
        self._documents = documents
        self._port = plans
        self._in_words = in_words
        self._desk = PlanDesk()
        self._set: Plan | None = None
        self._found: Assessment | None = None
        self._took_s = 0.0
        self._words = ("", "")

    def compose_body(self) -> Iterable[Widget]:
        """The form, and beside it what will happen."""
        form = Vertical(PlanForm(self._edited, id="form"), id="form-panel", classes="panel")
        return [Horizontal(form, PlanPanels(self._in_words, id="right"))]

    # Where plans come from

    def on_screen_resume(self) -> None:
        """Show the plan that the session has, and what has become known meanwhile."""
        in_background(self, self._resume, "known")

    async def _resume(self) -> None:
        desk = self._desk
        desk.shipped, desk.entered = self._port.shipped(), self._read_entries()
        plan = self.session.plan
        if plan is None:
            name, plan = next(iter(desk.shipped.items()))
            self._take(plan, name)
        elif plan is not self._set or desk.draft is None:
            self._take(plan, self.session.plan_name)
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

    def _take(self, plan: Plan, name: str) -> None:
        """Put a plan into the form."""
        self.session.plan_name = name
        self._change(self._desk.begin(plan))

    async def _learn(self) -> None:
        """What is known of the plan's nodes and model; then everything is reckoned anew."""
        desk = self._desk
        plan = desk.plan or self.session.plan
        if plan is None:
            return
        try:
            desk.known = await self._port.known(plan)
        except KvtuiError as error:
            desk.known = Known()
            self._refuse(error)
        self.query_one(PlanForm).offer(tuple(desk.entered), len(desk.models))
        self._reckon()

    # What a person changes

    def _change(self, draft: Draft | None) -> None:
        if draft is None:
            return
        asks_anew = self._desk.put(draft)
        if self._desk.plan is not None:
            self.session.plan = self._set = self._desk.plan
        self.query_one(PlanForm).show(draft, self._desk.checked)
        self._title()
        if asks_anew:
            in_background(self, self._learn, "known")
        else:
            self._reckon()

    def _title(self) -> None:
        panel, desk, name = self.query_one("#form-panel"), self._desk, self.session.plan_name
        self.session.unsaved = desk.changed
        words = desk.title(name), desk.state(name)
        # Setting a title draws the border anew.
        if words != self._words:
            self._words = words
            panel.border_title, panel.border_subtitle = map(Content, words)
        panel.set_class(bool(desk.checked.faults), "-faulty")

    def _edited(self, name: str, text: str) -> None:
        self._change(self._desk.edited(name, text))

    @on(PlanForm.Pressed)
    def _pressed(self, event: PlanForm.Pressed) -> None:
        draft = self._desk.draft
        match event.name.split("."):
            case ["tiers", key, "remove"] if draft is not None:
                self._change(draft.remove_tier(int(key)))
            case [name] if name == ADD_TIER and draft is not None:
                self._change(draft.add_tier())
            case [name] if name == MODELS:
                in_background(self, self._choose_model, "open")

    async def _choose_model(self) -> None:
        models = self._desk.models
        path = await self.app.push_screen_wait(ModelPicker(tuple(models.values())))
        if path is not None:
            self._change(self._desk.with_model(models[path]))

    # What is said of it

    def _reckon(self) -> None:
        if self._desk.plan is not None:
            in_background(self, self._assess, "assess")

    async def _assess(self) -> None:
        desk, plan = self._desk, self._desk.plan
        if plan is None:
            return
        if self._took_s > _SLOW_S:
            await asyncio.sleep(_PAUSE_S)
        began = time.perf_counter()
        self._found = found = await asyncio.to_thread(assess, plan, desk.known)
        self._took_s = time.perf_counter() - began
        with self.app.batch_update():
            self.query_one(PlanPanels).show(
                plan, found, lambda finding: fix(plan, desk.known, finding) is not None
            )
            self.query_one(PlanForm).know(found)

    def on_resize(self, event: events.Resize) -> None:
        """Another view may be one key away, or none."""
        super().on_resize(event)
        self.refresh_bindings()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Some keys mean something only at times."""
        if action in ("leave", "edit") and self.is_mounted:
            return self.query_one(PlanForm).active == (action == "leave")
        if action == "view":
            return self.size.width < WIDE
        return super().check_action(action, parameters)

    def action_edit(self) -> None:
        """Go into the form."""
        self.query_one(PlanForm).enter()

    def action_leave(self) -> None:
        """Leave it."""
        self.query_one(FindingList).focus()

    def action_view(self) -> None:
        """Show the next view."""
        self.query_one(PlanPanels).next_view()

    def _refuse(self, error: KvtuiError) -> None:
        self.app.notify(clean(str(error)), severity="error", markup=False)

    def _valid(self) -> Plan | None:
        """The plan, or a word on why there is none."""
        if self._desk.plan is None and (why := self._desk.first_fault()):
            self.app.notify(f"Mend the form first. {why}.", severity="error", markup=False)
        return self._desk.plan

    async def action_launch(self) -> None:
        """Go to Launch with this plan."""
        if self._valid() is not None:
            await self.run_action("app.mode('launch')")

    def action_fix(self) -> None:
        """Mend what the finding under the cursor is about."""
        finding, desk = self.query_one(FindingList).current, self._desk
        if finding is None or desk.plan is None or desk.draft is None:
            self.app.notify("There is nothing to fix.", markup=False)
            return
        mended = fix(desk.plan, desk.known, finding)
        if mended is None:
            self.app.notify(f"Only you can mend this. {clean(finding.remedy)}", markup=False)
            return
        self._change(desk.draft.with_plan(mended.plan))
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
        if (plan := self._valid()) is None:
            return
        try:
            text = self._port.commands(plan, self._desk.known)
        except KvtuiError as error:
            self._refuse(error)
            return
        host(self.app).copy(text, "the commands")

    def action_export(self) -> None:
        """Write the plan as TOML, and copy it."""
        if (plan := self._valid()) is None:
            return
        try:
            path = self._port.export(plan)
            text = self._port.toml(plan)
        except KvtuiError as error:
            self._refuse(error)
            return
        host(self.app).copy(text, f"the plan; it is in {path}")

    @property
    def _files(self) -> PlanFiles:
        return PlanFiles(self.app, self._port, self._desk.shipped)

    def action_save(self) -> None:
        """Save the plan under a name."""
        if self._valid() is not None:
            in_background(self, self._save, "save")

    async def _save(self) -> None:
        plan, draft = self._desk.plan, self._desk.draft
        if plan is None or draft is None:
            return
        saved = await self._files.save(plan, self.session.plan_name or plan.name)
        if saved is not None:
            name, self._desk.kept = saved
            self.session.plan_name = name
            self._change(draft.with_plan(self._desk.kept))
            self.app.notify(f"Saved as {name}.", markup=False)

    def action_open(self) -> None:
        """Open another plan."""
        in_background(self, self._open, "open")

    async def _open(self) -> None:
        chosen = await self._files.choose("Open a plan")
        if chosen is None:
            return
        name, plan = chosen
        if self._desk.draft is not None and self._desk.changed and not await self._files.may_lose():
            return
        self._take(plan, name)
        in_background(self, self._learn, "known")

    def action_compare(self) -> None:
        """Compare with another plan."""
        if self._valid() is not None:
            in_background(self, self._compare, "open")

    async def _compare(self) -> None:
        plan, chosen = self._desk.plan, await self._files.choose("Compare with")
        if plan is not None and chosen is not None:
            name, other = chosen
            found = compare(plan, other, self._desk.known)
            self.app.push_screen(PlanDifferences("this plan", name, found))
