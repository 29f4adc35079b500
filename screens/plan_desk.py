"""The plan that is being made: what is typed, what it was, and what is known beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kvtui.check import Known
from kvtui.loglines import clean
from kvtui.nodefacts import ModelFolder
from kvtui.plan import Node, Plan
from kvtui.plan_draft import Checked, Draft, check, draft_of


@dataclass
class PlanDesk:
    """What the form holds, and what it is judged by.

    Attributes:
        draft: The texts of the form.
        checked: The plan that they make, or what is wrong.
        kept: The plan as its file has it.
        known: What is known of its nodes and its model.
        entered: The person's nodes by name.
        shipped: kvtui's own plans by name.
    """

    draft: Draft | None = None
    checked: Checked = field(default_factory=lambda: Checked(None, {}))
    kept: Plan | None = None
    known: Known = field(default_factory=Known)
    entered: Mapping[str, Node] = field(default_factory=dict)
    shipped: Mapping[str, Plan] = field(default_factory=dict)

    @property
    def plan(self) -> Plan | None:
        """The plan, if nothing is wrong."""
        return self.checked.plan

    @property
    def changed(self) -> bool:
        """Whether the form holds something that its file does not."""
        return self.plan is None or self.plan != self.kept

    @property
    def models(self) -> Mapping[str, ModelFolder]:
        """Models that were found on the plan's nodes, by their path."""
        return {folder.path: folder for facts in self.known.facts.values() for folder in facts.models or ()}

    def begin(self, plan: Plan) -> Draft:
        """The draft of another plan, as its file has it."""
        self.kept = plan
        return draft_of(plan, self.entered)

    def put(self, draft: Draft) -> bool:
        """Take a changed draft.

        Returns:
            Whether other things must be known now than before.
        """
        before = self.plan
        self.draft, self.checked = draft, check(draft)
        return before is not None and self.plan is not None and _asks_anew(before, self.plan)

    def edited(self, name: str, text: str) -> Draft | None:
        """The draft with another text in a field, or in a tier's (``tiers.KEY.NAME``)."""
        if self.draft is None:
            return None
        match name.split("."):
            case ["tiers", key, inner]:
                return self.draft.put_tier(int(key), inner, text)
        return self.draft.put(name, text)

    def with_model(self, folder: ModelFolder) -> Draft | None:
        """The draft with a model that was found, and the size of its KV."""
        if self.draft is None:
            return None
        draft = self.draft.put("model.path", folder.path).put("model.served_name", folder.name)
        size = folder.kv_bytes_per_token
        return draft.put("model.kv_bytes_per_token", "" if size is None else str(size))

    def title(self, name: str) -> str:
        """What stands above the form."""
        shown = name or (self.draft.base.name if self.draft else "")
        return clean(f"Plan: {shown}{' · changed' if self.changed else ''}")

    def state(self, name: str) -> str:
        """What stands below the form: what is to be mended, or where the plan is from."""
        faults = self.checked.faults
        if faults:
            return clean(faults.get("", f"{len(faults)} to mend · not in the plan yet"))
        own = self.plan is not None and self.plan == self.shipped.get(name)
        return "comes with kvtui: i Edit, o Open" if own else ""

    def first_fault(self) -> str:
        """The first thing that is wrong, and where; empty for none."""
        for name, fault in self.checked.faults.items():
            return f"{self._where(name)}{fault}"
        return ""

    def _where(self, name: str) -> str:
        match name.split("."):
            case ["tiers", key, inner] if self.draft is not None:
                names: Sequence[str] = [
                    tier.values["name"] for tier in self.draft.tiers if str(tier.key) == key
                ]
                return clean(f"tier {names[0] if names else key}, {inner}: ")
        return f"{name}: " if name else ""


def _asks_anew(before: Plan, after: Plan) -> bool:
    """Whether another plan asks for other knowledge."""

    def asked(plan: Plan) -> object:
        return plan.model.served_name, plan.lab, plan.corpus.prompt_tokens, plan.engine_nodes, plan.store

    return asked(before) != asked(after)
