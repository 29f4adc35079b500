"""Log lines become findings: merged by cause, counted, never lost."""

from __future__ import annotations

import pytest

from kvtui.findings import Level
from kvtui.plan import TierKind
from kvtui.rules.context import RunContext
from kvtui.rules.finding import LineFinding, LineRef
from kvtui.rules.groups import KINDS, UNKNOWN, masked
from kvtui.rules.merge import LogFindings
from kvtui.samples import Pass


def lmcache(level: str, message: str, second: int = 0) -> str:
    return (
        f"(EngineCore pid=7) \x1b[33;20m[2026-11-29 17:00:{second:02},123] LMCache {level}:\x1b[0m {message} "
        "\x1b[3m(cache.py:9:lmcache.v1.cache)\x1b[0m"
    )


def vllm(level: str, message: str, process: str = "EngineCore") -> str:
    return f"({process} pid=7) {level} 11-29 17:00:01 [core.py:99] {message}"


UNSEEDED = lmcache("WARNING", "Using builtin hash without PYTHONHASHSEED set. For production", 3)


def found(lines: list[str], context: RunContext | None = None, batch: int = 1000) -> tuple[LineFinding, ...]:
    findings = LogFindings(context or RunContext())
    for start in range(0, len(lines), batch):
        findings.feed("node-a", "engine", start + 1, lines[start : start + batch])
    return findings.findings()


def test_the_same_line_is_blocking_in_a_fleet_and_nothing_on_a_seeded_node() -> None:
    assert [one.level for one in found([UNSEEDED], RunContext(fleet=True, seeded=False))] == [Level.BLOCKING]
    assert [one.level for one in found([UNSEEDED], RunContext(seeded=False))] == [Level.INFO]
    assert found([UNSEEDED], RunContext(fleet=True, seeded=True)) == ()
    assert found([UNSEEDED], RunContext(fleet=True, seeded=False, same_keys=True)) == ()


def test_repeats_are_one_finding_with_its_count_and_first_and_last_line() -> None:
    quiet = lmcache("INFO", "Using hash algorithm: builtin", 1)
    lines = [quiet, UNSEEDED, quiet, UNSEEDED.replace(":03,", ":09,"), quiet]
    for batch in (1, 2, 5):
        (one,) = found(lines, batch=batch)
        assert (one.count, one.first_at, one.last_at) == (2, "11-29 17:00:03", "11-29 17:00:09")
        assert (one.first, one.last) == (LineRef("engine", 2), LineRef("engine", 4))
        assert "\x1b" not in one.line


def test_an_unknown_alarm_is_kept_and_its_kind_counted_once() -> None:
    lines = [vllm("ERROR", f"Frobnication of block {n} failed with 0x{n:x}") for n in range(50)]
    lines.append(vllm("WARNING", "The moon is out"))
    error, warning = found(lines)
    assert (error.code, error.level, error.count) == (UNKNOWN, Level.WARNING, 50)
    assert (warning.level, warning.count) == (Level.INFO, 1)
    assert "not known to kvtui" in error.text
    assert "Frobnication of block 0" in error.text


def test_kinds_beyond_the_cap_are_counted() -> None:
    findings = LogFindings(RunContext())
    words = [chr(97 + n % 26) * (1 + n // 26) for n in range(KINDS + 30)]
    findings.feed("node-a", "engine", 1, [vllm("ERROR", f"Trouble of kind {word}") for word in words * 2])
    assert len(findings.findings()) == KINDS
    assert sum(one.count for one in findings.findings()) == 2 * KINDS
    assert (findings.unlisted.kinds, findings.unlisted.lines) == (30, 60)


TRACE = [
    vllm("ERROR", "Something broke while serving"),
    "(EngineCore pid=7) Traceback (most recent call last):",
    '(EngineCore pid=7)   File "/x/engine.py", line 3, in run',
    "(APIServer pid=8) INFO 11-29 17:00:01 [x.py:1] all is well here",
    "(EngineCore pid=7)     raise ValueError",
    "(EngineCore pid=7) KeyError: 'k'",
    "(EngineCore pid=7) ",
    "(EngineCore pid=7) During handling of the above exception, another exception occurred:",
    "(EngineCore pid=7) ",
    "(EngineCore pid=7) Traceback (most recent call last):",
    '(EngineCore pid=7)   File "/x/engine.py", line 4, in run',
    "(EngineCore pid=7) ValueError: no",
]


def test_a_traceback_belongs_to_the_error_before_it() -> None:
    for batch in (1, 2, 3, 20):
        (one,) = found(TRACE, batch=batch)
        assert one.text.endswith("Something broke while serving")
        assert one.detail == "KeyError: 'k'"


def test_a_traceback_whose_every_line_is_an_error_is_one_finding() -> None:
    trace = [
        vllm("ERROR", message)
        for message in (
            "Something broke while serving",
            "Traceback (most recent call last):",
            '  File "/x/engine.py", line 3, in run',
            "    raise ValueError",
            "    ^^^^^^^^^^^^^^^^",
            "ValueError: no",
        )
    ]
    for batch in (1, 2, 4, 20):
        (one,) = found([*trace, vllm("INFO", "on")], batch=batch)
        assert one.detail == "ValueError: no"


def test_a_traceback_alone_is_a_finding() -> None:
    (one,) = found(TRACE[1:6])
    assert (one.code, one.level) == (UNKNOWN, Level.WARNING)
    assert one.text.endswith("KeyError: 'k'")


def test_a_traceback_that_has_not_ended_is_shown() -> None:
    (one,) = found(TRACE[1:4])
    assert (one.code, one.level, one.first) == (UNKNOWN, Level.WARNING, LineRef("engine", 1))


def test_a_traceback_of_a_known_cause_is_that_finding_alone() -> None:
    trace = [*TRACE[1:5], "(EngineCore pid=7) torch.OutOfMemoryError: CUDA out of memory."]
    for batch in (1, 2, 20):
        (one,) = found(trace, batch=batch)
        assert one.code == "gpu-out-of-memory"


def test_an_engine_that_was_told_to_stop_dies_unnoticed_and_another_does_not() -> None:
    stop = vllm("INFO", "[shutdown] API server: shutdown triggered", "APIServer")
    death = [
        vllm("ERROR", message, "APIServer")
        for message in (
            "AsyncLLM output_handler failed.",
            "Traceback (most recent call last):",
            '  File "/x/client.py", line 3, in get',
            "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace",
        )
    ]
    start = vllm("INFO", "Starting vLLM server on http://0.0.0.0:8000", "APIServer")
    assert found([stop, *death]) == ()
    for lines in (death, [stop, start, *death]):
        (one,) = found(lines)
        assert (one.code, one.level) == ("engine-died", Level.BLOCKING)


def test_what_follows_from_a_cause_is_counted_with_it() -> None:
    follower = lmcache("WARNING", "Skipping post_init due to previous initialization failure")
    root = lmcache("ERROR", "Failed during post_init: no memory. System will operate in degraded mode")
    for lines in ([root, follower], [follower, root]):
        (one,) = found(lines)
        assert (one.code, one.count) == ("lmcache-degraded", 2)
        assert "stays green" in one.text


def test_a_new_tier_has_findings_of_its_own() -> None:
    full = lmcache("WARNING", "Failed to allocate memory block of size 512 because no memory is available")
    findings = LogFindings(RunContext(tier="dram-8", tier_kind=TierKind.DRAM, step=Pass.COLD))
    findings.feed("node-a", "engine", 1, [full])
    findings.set_context(RunContext(tier="valkey", tier_kind=TierKind.VALKEY, step=Pass.COLD))
    findings.feed("node-a", "engine", 2, [full, full])
    trap, staging = findings.findings()
    assert (trap.tier, trap.count, staging.tier, staging.count) == ("dram-8", 1, "valkey", 2)
    assert "DRAM tier is full" in trap.text
    assert "staging buffer" in staging.text


def test_a_finding_joins_those_of_the_run() -> None:
    (one,) = found([UNSEEDED, UNSEEDED], RunContext(fleet=True, tier="valkey"))
    finding = one.finding()
    assert (finding.level, finding.code, finding.where) == (Level.BLOCKING, one.code, "node-a, valkey")
    assert finding.text.endswith("(2 lines)")
    assert one.command == "export PYTHONHASHSEED=0"


def test_hostile_figures_are_harmless() -> None:
    line = lmcache("WARNING", "Unknown configuration key: \x1b]0;x\x07a\u202eb{why} (source: file)")
    (one,) = found([line])
    assert "a" in one.text
    assert not {"\x1b", "\u202e"} & set(one.text + one.line)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Request cmpl-r.doc-1-0-88ff4f34 was lost", "Request cmpl-r.doc-2-0-aee2c373 was lost"),
        ("Read of 0x7f3a failed after 1.5 s", "Read of 0x81bc failed after 12.25 s"),
        (
            "Session 3f2c9a1e-77aa-4b1c-9d2e-0c0ffee00001 is gone",
            "Session a12bb3c4-11aa-4b1c-9d2e-0c0ffee00002 is gone",
        ),
    ],
)
def test_lines_that_differ_in_numbers_and_ids_are_one_kind(one: str, other: str) -> None:
    assert masked(one) == masked(other)
    assert masked(one) != masked(f"{one} again")


def test_a_release_is_known_from_the_log_itself() -> None:
    pins = lmcache("WARNING", "Pin count of MemoryObj 7is negative: -1.Double unpin occurred somewhere.")
    for version, remedy in (("0.5.4", False), ("0.6.0", True)):
        ready = f"LMCache initialized for role W with version {version}, vllm version 0.28.0, x"
        (one,) = found([lmcache("INFO", ready), pins])
        assert (one.level, bool(one.remedy)) == (Level.INFO, remedy)
