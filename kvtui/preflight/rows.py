"""All rows of a preflight, from what was answered so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from kvtui.check import Assessment, Fix, Known, assess, fix
from kvtui.errors import PlanError
from kvtui.findings import Finding, Level
from kvtui.nodefacts import NodeFacts
from kvtui.plan import TierKind
from kvtui.preflight import machine, plan_rows, room, store
from kvtui.preflight.answers import (
    Answer,
    Answers,
    Asking,
    Holder,
    ModelConfig,
    Question,
    RoundTrip,
    Subject,
    Unanswered,
)
from kvtui.preflight.engine import engine_row, model_row, versions_row
from kvtui.preflight.row import CheckRow, State
from kvtui.storefacts import StoreFacts

T = TypeVar("T")


def known_of(subject: Subject, answers: Answers) -> Known:
    """Everything that is known of the plan now."""
    facts = _given(answers, Question.FACTS, NodeFacts)
    shapes = (config.shape for config in _given(answers, Question.MODEL, ModelConfig).values())
    stores = iter(_given(answers, Question.STORE, StoreFacts).values())
    return replace(
        subject.base,
        facts=facts,
        homes=subject.homes,
        shape=next((shape for shape in shapes if shape is not None), None),
        store=next(stores, None),
    )


def _given(answers: Answers, question: Question, kind: type[T]) -> dict[str, T]:
    return {
        node: value
        for (asked, node), value in answers.items()
        if asked is question and isinstance(value, kind)
    }


def still_open(subject: Subject, answers: Answers) -> bool:
    """Whether something that the plan is judged by is not answered yet."""
    wanted = [(Question.FACTS, node) for node in subject.nodes]
    wanted += [(Question.MODEL, node) for node in subject.engines]
    if subject.store_node in subject.nodes:
        wanted.append((Question.STORE, subject.store_node))
    return any(isinstance(answers.get(one), Asking | None) for one in wanted)


def rows(subject: Subject, answers: Answers) -> tuple[CheckRow, ...]:
    """Every row, in a stable order; what is not answered yet waits or runs."""
    known = known_of(subject, answers)
    found = assess(subject.plan, known)
    open_ = still_open(subject, answers)
    told = [
        *_lab(subject),
        *_machines(subject, answers),
        *_engines(subject, answers),
        *_rooms(subject, known, found, open_),
        *_store(subject, answers, found, open_),
        *_plan(subject, known, found, open_),
    ]
    if not open_:
        told += plan_rows.rest_rows(found, told)
    return tuple(_with_fix(row, subject, known) for row in told)


def fix_of(subject: Subject, known: Known, finding: Finding) -> Fix | None:
    """What kvtui can do about a finding, to the plan that the person wrote.

    On the lab a plan for other machines is scaled, so what the lab's nodes have says nothing of its figures.
    """
    scaled = subject.lab and not subject.own.lab
    return fix(subject.own, subject.base if scaled else known, finding)


def _with_fix(row: CheckRow, subject: Subject, known: Known) -> CheckRow:
    if row.finding is None or row.fix:
        return row
    mended = fix_of(subject, known, row.finding)
    return replace(row, fix=mended.words) if mended else row


def _pending(answer: Answer | None, id_: str, title: str, node: str) -> CheckRow | None:
    if answer is None:
        return CheckRow(id_, title, node, State.WAITING, "waiting")
    if isinstance(answer, Asking):
        return CheckRow(id_, title, node, State.RUNNING, "checking…")
    return None


def _judged(
    answer: Answer | None,
    kind: type[T],
    id_: str,
    title: str,
    node: str,
    judge: Callable[[T], CheckRow],
) -> CheckRow:
    """The row of one answer; a question that failed because the node is gone is told of elsewhere."""
    pending = _pending(answer, id_, title, node)
    if pending is not None:
        return pending
    if isinstance(answer, Unanswered):
        finding = Finding(Level.WARNING, f"{id_}-unknown", answer.text, answer.remedy, node)
        return CheckRow(id_, title, node, State.UNKNOWN, answer.word, finding)
    if not isinstance(answer, kind):
        raise AssertionError(answer)
    return judge(answer)


def _lab(subject: Subject) -> Iterator[CheckRow]:
    if subject.lab == "down":
        yield CheckRow("lab", "the lab", "", State.OK, "will be started")
    elif subject.lab == "up":
        yield CheckRow("lab", "the lab", "", State.OK, "up")


def _machines(subject: Subject, answers: Answers) -> Iterator[CheckRow]:
    for node in subject.nodes:
        answer = answers.get((Question.FACTS, node))
        if isinstance(answer, Unanswered):
            finding = Finding(Level.BLOCKING, "node-down", answer.text, answer.remedy, node)
            yield CheckRow("ssh", "ssh, clock within 50 ms", node, State.FAILED, answer.word, finding)
            continue
        yield _pending(answer, "ssh", "ssh, clock within 50 ms", node) or machine.clock_row(
            node, _facts(answer)
        )
        yield _pending(answer, "python", "Python for kvtui's agent", node) or machine.python_row(
            node, _facts(answer)
        )
        yield _judged(
            answers.get((Question.LOCK, node)),
            Holder,
            "lock",
            "no other run",
            node,
            lambda holder, node=node: machine.lock_row(node, holder),  # type: ignore[misc]
        )


def _facts(answer: Answer | None) -> NodeFacts:
    if not isinstance(answer, NodeFacts):
        raise AssertionError(answer)
    return answer


def _engines(subject: Subject, answers: Answers) -> Iterator[CheckRow]:
    read = _given(answers, Question.FACTS, NodeFacts)
    facts = {node: read[node] for node in subject.engines if node in read}
    for node in subject.engines:
        answer = answers.get((Question.FACTS, node))
        if isinstance(answer, Unanswered):
            continue
        for id_, title in (
            ("engine", "vLLM, LMCache"),
            ("versions", "versions equal"),
            ("gpu-memory", "GPU memory free"),
            ("gpu-foreign", "GPU not shared"),
        ):
            pending = _pending(answer, id_, title, node)
            if pending is not None:
                yield pending
        if node in facts:
            yield engine_row(node, facts[node])
            yield versions_row(node, facts)
            yield from _gpus(subject, node, facts[node])
        yield _model(subject, answers, node)
        yield _judged(
            answers.get((Question.PORTS, node)),
            tuple,
            "ports",
            "free ports",
            node,
            lambda ports, node=node: machine.ports_row(node, ports),  # type: ignore[misc]
        )


def _gpus(subject: Subject, node: str, facts: NodeFacts) -> tuple[CheckRow, ...]:
    try:
        return machine.gpu_rows(subject.plan, node, facts)
    except PlanError as error:
        finding = Finding(Level.BLOCKING, "engine-option", error.message, error.hint, subject.plan.name)
        return (CheckRow("gpu-memory", "GPU memory free", node, State.FAILED, "extra_args", finding),)


def _model(subject: Subject, answers: Answers, node: str) -> CheckRow:
    given = _given(answers, Question.MODEL, ModelConfig)
    configs = {one: given[one] for one in subject.engines if one in given}
    answer = answers.get((Question.MODEL, node))
    path = subject.plan.model.path
    return _judged(
        answer, ModelConfig, "model", "model, config equal", node, lambda _: model_row(node, path, configs)
    )


def _rooms(subject: Subject, known: Known, found: Assessment, open_: bool) -> Iterator[CheckRow]:
    plan = subject.plan
    for node in subject.engines:
        if open_:
            yield CheckRow("ram", "RAM for tiers and buffers", node, State.RUNNING, "checking…")
        elif node in known.facts:
            yield room.ram_row(plan, node, known.shape, known, found)
            yield from room.disk_rows(plan, node, known.shape, known, found)


def _store(subject: Subject, answers: Answers, found: Assessment, open_: bool) -> Iterator[CheckRow]:
    node = subject.store_node
    if node not in subject.nodes:
        return
    if subject.missing_password:
        yield store.password_row(node, subject.missing_password)
    answer = answers.get((Question.STORE, node))
    if isinstance(answer, Unanswered):
        # A node that is gone is told of once.
        if not _is_gone(answers, node):
            finding = Finding(Level.BLOCKING, "store-down", answer.text, answer.remedy, node)
            yield CheckRow("store", "store: answers", node, State.FAILED, answer.word, finding)
        return
    pending = _pending(answer, "store", "store: answers", node)
    if pending is not None:
        yield pending
    elif isinstance(answer, StoreFacts):
        yield from store.store_rows(node, answer, () if open_ else found.findings)
    for engine in subject.engines:
        if not _is_gone(answers, engine):
            yield _value(answers.get((Question.VALUE, engine)), engine)


def _is_gone(answers: Answers, node: str) -> bool:
    return isinstance(answers.get((Question.FACTS, node)), Unanswered)


def _value(answer: Answer | None, node: str) -> CheckRow:
    pending = _pending(answer, "value", "store: one chunk and back", node)
    if pending is not None:
        return pending
    if not isinstance(answer, RoundTrip | Unanswered):
        raise AssertionError(answer)
    return store.value_row(node, answer)


def _plan(subject: Subject, known: Known, found: Assessment, open_: bool) -> Iterator[CheckRow]:
    plan = subject.plan
    if open_:
        yield CheckRow("kv-size", "KV size known", "", State.RUNNING, "checking…")
        yield CheckRow("sharing", "seed, hash: keys shared", "", State.RUNNING, "checking…")
    else:
        yield plan_rows.size_row(found)
        if any(tier.kind is not TierKind.NONE for tier in plan.tiers):
            yield plan_rows.sharing_row(plan, found)
        yield from plan_rows.fit_rows(found)
    for node in subject.engines:
        yield plan_rows.ceiling_row(plan, node, known, subject.now_wall_s)
