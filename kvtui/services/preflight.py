"""The preflight of a plan: everything asked of all its nodes at once, told row by row as answers come."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from kvtui import lab
from kvtui.campaign.ceiling_measuring import measure_node
from kvtui.campaign.lab_target import target_of_lab
from kvtui.campaign.target import Target, target_of_plan
from kvtui.ceiling_store import CeilingStore
from kvtui.check import Known, shape_of
from kvtui.engine_options import tensor_parallel
from kvtui.errors import KvtuiError, PlanError
from kvtui.findings import Finding, Level
from kvtui.hosts_file import NodeEntry, Role
from kvtui.kvsize import KvShape
from kvtui.lab_plan import LabEngine, for_lab
from kvtui.launch import plan_on_lab
from kvtui.nodefacts import NodeFacts
from kvtui.paths import Places
from kvtui.plan import Plan
from kvtui.preflight import (
    Asking,
    CheckRow,
    Question,
    State,
    Subject,
    Unanswered,
    fix_of,
    known_of,
    rows,
)
from kvtui.preflight.answers import Answer
from kvtui.services import asking_nodes
from kvtui.services.hosts import KnownNode
from kvtui.services.known import known_here
from kvtui.services.links import LinkPool
from kvtui.services.measure import CHUNK_BYTES, measuring_of
from kvtui.services.probe import state_word
from remote.errors import NodeUnreachable, NoPython, RemoteError
from remote.lab.info import read
from remote.link import Link, home

Told = Callable[[tuple[CheckRow, ...]], None]
_OF_STORE = ("store", "store-room", "store-policy", "store-saves")
_ASKED_FOR = {
    "lock": Question.LOCK,
    "ports": Question.PORTS,
    "model": Question.MODEL,
    "value": Question.VALUE,
}


class Preflight:
    """Checks plans; keeps what the nodes of the last one answered, so that single rows can be asked again.

    Args:
        places: kvtui's places.
        pool: The links.
        clock: The time of this machine.
    """

    def __init__(self, places: Places, pool: LinkPool, clock: Callable[[], float] = time.time) -> None:
        self._places = places
        self._pool = pool
        self._clock = clock
        self._subject: Subject | None = None
        self._target: Target | None = None
        self._answers: dict[tuple[Question, str], Answer] = {}
        self.failures: dict[str, RemoteError] = {}

    async def check(self, plan: Plan, *, on_lab: bool, told: Told) -> tuple[CheckRow, ...]:
        """Check everything.

        Args:
            plan: The plan.
            on_lab: It is to run on the lab, whatever nodes it names.
            told: Called with all rows whenever one of them changes.
        """
        self._answers, self.failures = {}, {}
        try:
            self._subject, self._target = await self._about(plan, on_lab)
        except KvtuiError as error:
            self._subject = None
            finding = Finding(Level.BLOCKING, "plan", error.message, error.hint, plan.name)
            refused = (CheckRow("plan", "plan can be launched", "", State.FAILED, "no", finding),)
            told(refused)
            return refused
        told(self.rows())
        await self._ask_all(self._subject, told)
        return self.rows()

    async def recheck(self, row: CheckRow, told: Told) -> tuple[CheckRow, ...]:
        """Ask again what one row depends on."""
        subject = self._subject
        if subject is None:
            return (row,)
        self._subject = replace(subject, base=known_here(subject.own, self._places), now_wall_s=self._clock())
        if row.node in subject.nodes:
            if row.id in _OF_STORE:
                await self._ask_store(self._subject, told)
            elif row.id in _ASKED_FOR and row.node not in self.failures:
                await self._ask_one(_ASKED_FOR[row.id], row.node, told)
            elif row.id != "ceilings":
                await self._ask_node(row.node, told)
        told(self.rows())
        return self.rows()

    def rows(self) -> tuple[CheckRow, ...]:
        """How everything stands now."""
        return rows(self._subject, self._answers) if self._subject else ()

    def mended(self, row: CheckRow) -> Plan | None:
        """The person's plan with the fix of a row; ``None`` where the plan is not what can be mended."""
        if self._subject is None or row.finding is None:
            return None
        found = fix_of(self._subject, known_of(self._subject, self._answers), row.finding)
        return found.plan if found else None

    def shape(self, plan: Plan) -> KvShape | None:
        """KV of the plan's model, as far as the last check or the plan tells.

        Raises:
            PlanError: An option in ``extra_args`` has a value that the engine cannot take.
        """
        subject = self._subject
        same = subject is not None and plan in (subject.plan, subject.own)
        sized = shape_of(plan, known_of(subject, self._answers) if subject and same else Known())
        return sized[0] if sized else None

    async def measure(self, said: Callable[[str], None], told: Told) -> None:
        """Measure the ceilings of every engine node, one after another, and keep them.

        Raises:
            RemoteError: Something could not be measured; what could be is kept.
        """
        subject, target = self._subject, self._target
        if subject is None or target is None:
            return
        store = CeilingStore(self._places.state)
        failures: list[RemoteError] = []
        store_link = self._link(subject.store_node) if subject.store_node else None
        for node in subject.engines:
            entry = NodeEntry.model_construct(
                name=node, ssh=node, roles=(Role.GPU,), engine_python=target.engine_python[node]
            )
            place = (target.store_address, target.store_port) if subject.store_node else None
            known = KnownNode(entry, target.hosts[node], subject.lab != "", place)
            measuring, kinds = measuring_of(known, subject.plan, self._chunk_bytes(subject))
            measured = await measure_node(self._link(node), measuring, kinds, said, store_link)
            store.add(measured.ceilings)
            failures += measured.failures
            self._subject = replace(
                subject, base=known_here(subject.own, self._places), now_wall_s=self._clock()
            )
            told(self.rows())
        if failures:
            raise failures[0]

    async def _about(self, plan: Plan, on_lab: bool) -> tuple[Subject, Target | None]:
        target, lab_state, own = None, "", plan
        if plan.lab or on_lab:
            info = read(lab.lab_paths(self._places).info) if await lab.is_up(self._places) else None
            lab_state = "up" if info else "down"
            if info is not None:
                plan = plan_on_lab(plan, info)
                target = target_of_lab(info, plan.engine_nodes)
            else:
                # Whether it can be scaled at all is known before the lab is there.
                for_lab(plan, LabEngine("lab", 1, "auto", ()))
        else:
            target = target_of_plan(plan)
        variable = plan.store.password_env if plan.store and plan.needs_store else None
        subject = Subject(
            plan=plan,
            own=own,
            nodes=tuple(target.hosts) if target else (),
            store_node=target.store_node if target and plan.needs_store else "",
            lab=lab_state,  # type: ignore[arg-type]
            base=await asyncio.to_thread(known_here, own, self._places),
            homes={},
            now_wall_s=self._clock(),
            missing_password=variable if variable and variable not in os.environ else "",
        )
        return subject, target

    def _link(self, node: str) -> Link:
        if self._target is None:
            raise AssertionError(node)
        return self._pool.get(self._target.hosts[node])

    def _password(self, subject: Subject) -> str:
        store = subject.plan.store
        return os.environ.get(store.password_env or "", "") if store else ""

    def _chunk_bytes(self, subject: Subject) -> int:
        try:
            sized = shape_of(subject.plan, known_of(subject, self._answers))
        except PlanError:
            sized = None
        return sized[0].chunk_bytes(subject.plan.hash.chunk_tokens) if sized else CHUNK_BYTES

    async def _ask_all(self, subject: Subject, told: Told) -> None:
        async with asyncio.TaskGroup() as group:
            for node in subject.nodes:
                group.create_task(self._ask_node(node, told))
            if subject.store_node:
                group.create_task(self._ask_store(subject, told))

    async def _ask_node(self, node: str, told: Told) -> None:
        """The node's facts first, since they open the link; the rest at once."""
        subject, target = self._subject, self._target
        if subject is None or target is None:
            return
        self.failures.pop(node, None)
        await self._put(
            Question.FACTS, node, told, lambda: asking_nodes.ask_facts(self._link(node), target, node)
        )
        found = self._answers[Question.FACTS, node]
        if isinstance(found, Unanswered):
            for question in (Question.LOCK, Question.PORTS, Question.MODEL, Question.VALUE):
                self._answers[question, node] = found
            told(self.rows())
            return
        self._subject = replace(
            self._subject or subject,
            homes={**(self._subject or subject).homes, node: await home(self._link(node))},
        )
        questions = [Question.LOCK]
        if node in subject.engines:
            questions += [Question.PORTS, Question.MODEL]
        async with asyncio.TaskGroup() as group:
            for question in questions:
                group.create_task(self._ask_one(question, node, told))
        if node in subject.engines and subject.store_node:
            await self._ask_one(Question.VALUE, node, told)

    async def _ask_store(self, subject: Subject, told: Told) -> None:
        node, target = subject.store_node, self._target
        if target is not None:
            password = self._password(subject)
            await self._put(
                Question.STORE, node, told, lambda: asking_nodes.ask_store(self._link(node), target, password)
            )

    async def _ask_one(self, question: Question, node: str, told: Told) -> None:
        subject, target = self._subject, self._target
        facts = self._answers.get((Question.FACTS, node))
        if subject is None or target is None or not isinstance(facts, NodeFacts):
            return
        link = self._link(node)
        ask: dict[Question, Callable[[], Awaitable[Answer]]] = {
            Question.LOCK: lambda: asking_nodes.ask_holder(link),
            Question.PORTS: lambda: asking_nodes.ask_ports(link, self._ranks(subject)),
            Question.MODEL: lambda: asking_nodes.ask_model(
                link, subject.plan, target, facts, subject.homes.get(node, "~")
            ),
            Question.VALUE: lambda: asking_nodes.ask_value(
                link, target, self._password(subject), self._chunk_bytes(subject)
            ),
        }
        await self._put(question, node, told, ask[question])

    def _ranks(self, subject: Subject) -> int:
        try:
            return tensor_parallel(subject.plan.engine.extra_args)
        except PlanError:
            return 1

    async def _put(
        self, question: Question, node: str, told: Told, ask: Callable[[], Awaitable[Answer]]
    ) -> None:
        """Ask, and tell: that it is asked, and what came of it."""
        self._answers[question, node] = Asking()
        told(self.rows())
        answer: Answer
        try:
            answer = await ask()
        except RemoteError as error:
            answer = Unanswered(error.message, error.hint, state_word(error))
            if isinstance(error, NodeUnreachable | NoPython):
                self.failures.setdefault(node, error)
        except BaseException:
            # Given up: it waits to be asked again.
            self._answers.pop((question, node), None)
            raise
        self._answers[question, node] = answer
        told(self.rows())
