"""What a person reads while a run goes on."""

from __future__ import annotations

import io
import time

from kvtui.campaign.steps import steps
from kvtui.progress import Progress, RunProgress
from tests.kvtui.plans import lab_plan


class Terminal(io.StringIO):
    """An output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """Seconds that a test sets."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def progress(out: io.StringIO, clock: Clock) -> Progress:
    return Progress(out, clock, lambda: time.gmtime(0))


def test_without_a_terminal_phases_are_rare_and_plain() -> None:
    out, clock = io.StringIO(), Clock()
    told = progress(out, clock)
    told.say("one")
    for second in range(25):
        clock.now_s = float(second)
        told.phase(f"phase {second}")
    assert out.getvalue().splitlines() == ["00:00:00 one", "00:00:00 phase 10", "00:00:00 phase 20"]


def test_on_a_terminal_the_phase_is_one_changing_line() -> None:
    out = Terminal()
    told = progress(out, Clock())
    told.phase("first")
    told.phase("second")
    told.say("done")
    assert out.getvalue() == "  first\r\x1b[K  second\r\x1b[K00:00:00 done\n"


def test_a_run_is_told_step_by_step_with_the_time_that_is_left() -> None:
    out = io.StringIO()
    watching = RunProgress(lab_plan(), progress(out, Clock()))
    first = steps(lab_plan())[0]
    own = {"src": "kvtui", "wall_s": 0.0}
    watching.see({**own, "kind": "step_begin", "step": first.key(1), "words": first.words()})
    watching.see(
        {
            **own,
            "kind": "step_done",
            "step": first.key(1),
            "step_kind": "PREPARE",
            "seconds": 1.0,
            "record": {},
        }
    )
    assert out.getvalue().startswith("00:00:00 prepare (about ")
    assert out.getvalue().endswith(" left)\n")


def test_requests_are_counted_and_failures_are_said() -> None:
    out = Terminal()
    watching = RunProgress(lab_plan(), progress(out, Clock()))
    node = {"src": "gpu-a:valkey-single.1/single.cold", "v": 1}
    watching.replay(({**node, "kind": "pass_begin", "requests": 8},))
    watching.see({**node, "kind": "done", "ttft_ms": 1234.5})
    watching.see({**node, "kind": "failed", "error": "timeout", "detail": "no answer within 120 s"})
    assert "gpu-a: 1 of 8 answered, the last after 1,234 ms" in out.getvalue()
    assert "gpu-a: a request failed: timeout: no answer within 120 s" in out.getvalue()
