"""A made-up launch for the Launch screen's tests: checks, a start, and the app around them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from textual.pilot import Pilot
from textual.widgets import Button, Static

from kvtui.app import KvtuiApp
from kvtui.findings import Finding, Level
from kvtui.plan import Plan
from kvtui.preflight import CheckRow, State
from screens.base import KvtuiScreen
from screens.launch import LaunchScreen
from screens.modals.question import Question
from screens.ports.launch import StartTeller, Told
from screens.session import Session
from tests.kvtui.knowing import seed_plan
from tests.screens.apps import Around, make_app

RUN = "260101-000000-abcd"
PLAN = seed_plan()
MENDED = PLAN.model_copy(update={"notes": ("mended",)})
SEED = Finding(
    Level.BLOCKING,
    "hash-seed-differs",
    "The nodes cannot share: PYTHONHASHSEED is gpu-a 0, gpu-b unset.",
    'Set one number for every node: seed = "0" below [hash], and no seed_on.',
    "fleet",
)
DISK = Finding(
    Level.WARNING,
    "disk-free",
    "/mnt/kv has 900.0 GiB free; the run writes 800.0 GiB, and 1.2 times as much should be free.",
    "Free some, or name another path.",
    "gpu-b",
)
GOOD = (
    CheckRow("ssh", "ssh, clock within 50 ms", "gpu-a", State.OK, "2 ms"),
    CheckRow("ssh", "ssh, clock within 50 ms", "gpu-b", State.OK, "5 ms"),
    CheckRow("engine", "vLLM, LMCache", "gpu-a", State.OK, "0.28.0, 0.5.4"),
    CheckRow("engine", "vLLM, LMCache", "gpu-b", State.OK, "0.28.0, 0.5.4"),
    CheckRow("gpu-memory", "GPU memory free", "gpu-a", State.OK, "138 of 141 GiB"),
    CheckRow("gpu-memory", "GPU memory free", "gpu-b", State.OK, "140 of 141 GiB"),
    CheckRow("model", "model, config equal", "gpu-a", State.OK, "a91c02ef…"),
    CheckRow("model", "model, config equal", "gpu-b", State.OK, "a91c02ef…"),
    CheckRow("sharing", "seed, hash: keys shared", "", State.OK, "seed 0, sha256_cbor"),
    CheckRow(
        "ceilings", "ceilings measured", "gpu-a", State.UNKNOWN, "not: disk, net", None, "Measure them."
    ),
    CheckRow(
        "ceilings", "ceilings measured", "gpu-b", State.UNKNOWN, "not: disk, net", None, "Measure them."
    ),
)
BLOCKED = tuple(
    replace(row, state=State.FAILED, measured="seed 0 against unset", finding=SEED, fix='Set it to "0".')
    if row.id == "sharing"
    else row
    for row in GOOD
)
MIXED = (
    *BLOCKED,
    CheckRow("disk:disk", "disk: free ≥ 1.2 × plan", "gpu-a", State.OK, "6.1 TiB ≥ 960 GiB"),
    CheckRow("disk:disk", "disk: free ≥ 1.2 × plan", "gpu-b", State.WARNING, "900 GiB < 960 GiB", DISK),
    CheckRow("ports", "free ports", "gpu-a", State.OK, "25800, 26100"),
    CheckRow("ports", "free ports", "gpu-b", State.RUNNING, "checking…"),
    CheckRow("value", "store: one chunk and back", "gpu-a", State.WAITING, "waiting"),
    CheckRow("value", "store: one chunk and back", "gpu-b", State.WAITING, "waiting"),
)


class FakeLaunching:
    """Answers with the rows that it has, and starts as the test lets it."""

    def __init__(self, rows: tuple[CheckRow, ...] = GOOD) -> None:
        self.rows = rows
        self.did: list[str] = []
        self.taken_back = 0
        self.checking = asyncio.Event()
        self.checking.set()
        self.gate = asyncio.Event()
        self.handing = False
        self.error: Exception | None = None

    async def check(self, plan: Plan, *, on_lab: bool, told: Told) -> tuple[CheckRow, ...]:
        """Give the rows."""
        self.did.append(f"check {plan.name} {on_lab}")
        told(tuple(replace(row, state=State.RUNNING, measured="checking…", fix="") for row in self.rows))
        await self.checking.wait()
        told(self.rows)
        return self.rows

    async def recheck(self, row: CheckRow, told: Told) -> tuple[CheckRow, ...]:
        """Remember which."""
        self.did.append(f"recheck {row.id} {row.node}")
        told(self.rows)
        return self.rows

    def mended(self, row: CheckRow) -> Plan | None:
        """Another plan, with which all is well."""
        self.rows = GOOD
        return MENDED

    async def measure(self, said: Callable[[str], None], told: Told) -> None:
        """Remember it."""
        said("gpu-a: measuring disk")
        self.did.append("measure")

    def script(self, plan: Plan) -> str:
        """Some commands."""
        return f"# {plan.name}\n"

    def last_plan(self) -> tuple[str, Plan]:
        """The plan that was run last."""
        return "last", MENDED

    async def start(self, plan: Plan, *, on_lab: bool, teller: StartTeller) -> str:
        """Make a run."""
        self.did.append(f"start {plan.name} {on_lab}")
        teller.say("Installing the lab's engine environment [/x]\x1b[2J")
        teller.phase("vllm (2 of 4): 100 MB fetched")
        try:
            if self.handing:
                teller.handing_over()
            await self.gate.wait()
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        if self.error is not None:
            raise self.error
        return RUN

    def what_stops(self, run: str) -> tuple[str, ...]:
        """What would end."""
        return (f"gpu-a: the engine of {run}",)

    async def stop(self, run: str) -> None:
        """Remember it."""
        self.did.append(f"stop {run}")


class FakeLive(KvtuiScreen):
    """Where a started run is shown."""

    MODE = "live"

    def compose_body(self) -> list[Static]:
        """Nothing much."""
        return [Static("live")]


def app_of(
    port: FakeLaunching, session: Session, *, readonly: bool = False, around: Around | None = None
) -> KvtuiApp:
    """The app on Launch."""
    modes = {"launch": lambda session: LaunchScreen(session, port, lambda: 0.0), "live": FakeLive}
    return make_app(modes, session, readonly=readonly, around=around)


def line(app: KvtuiApp) -> str:
    """The line at the bottom."""
    return str(app.screen.query_one("#line", Static).render())


def starts(port: FakeLaunching) -> list[str]:
    """The starts so far."""
    return [did for did in port.did if did.startswith("start")]


async def settle(pilot: Pilot[None]) -> None:
    """Let background work come to its next wait."""
    for _ in range(6):
        await pilot.pause()


async def answer(pilot: Pilot[None], app: KvtuiApp, id_: str) -> None:
    """Answer the question in front."""
    assert isinstance(app.screen, Question)
    app.screen.query_one(f"#{id_}", Button).press()
    await settle(pilot)
