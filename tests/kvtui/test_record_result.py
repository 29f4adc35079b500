"""A result holds what the run's logs say above info, as the Live screen does."""

from __future__ import annotations

from pathlib import Path

import pytest

from kvtui.errors import RecordError
from kvtui.findings import Level
from kvtui.journal import Journal
from kvtui.line_reader import PIECE_BYTES
from kvtui.log_pieces import log_pieces
from kvtui.record import RunRecord, create
from kvtui.record_result import record_result
from tests.kvtui.plans import lab_plan
from tests.kvtui.rules.test_merge import UNSEEDED, lmcache, vllm

QUIET = lmcache("INFO", "Using hash algorithm: builtin")
LOG = "gpu-a.valkey-single-fleet.1.engine.log"


def run(runs: Path, lines: list[str], *kinds: str) -> RunRecord:
    """A run of both nodes without a seed, whose engine wrote these lines."""
    plan = lab_plan()
    record = create(runs, 1_764_450_000.0)
    unseeded = plan.model_copy(update={"hash": plan.hash.model_copy(update={"seed": None})})
    record.write(record.plan_file, unseeded.model_dump_json())
    journal = Journal(record.events)
    for kind in kinds:
        journal.append(kind, message="why")
    journal.close()
    record.logs.mkdir(exist_ok=True)
    (record.logs / LOG).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return record


def codes(record: RunRecord) -> list[str]:
    return [one.code for one in record_result(record).findings]


def test_a_warning_of_a_log_is_a_finding_of_the_result_with_its_remedy(tmp_path: Path) -> None:
    record = run(tmp_path, [QUIET, UNSEEDED, QUIET, vllm("ERROR", "Frobnication failed")], "run_done")
    known, unknown = record_result(record).findings
    assert (known.level, known.where) == (Level.BLOCKING, "gpu-a, valkey")
    assert known.code == "keys-builtin-hash-unseeded"
    assert "the same seed on every node" in known.remedy
    assert (unknown.level, "Frobnication failed" in unknown.text) == (Level.WARNING, True)


@pytest.mark.parametrize("lines", [[], [QUIET], [vllm("WARNING", "The moon is out")]])
def test_a_log_with_nothing_above_info_adds_nothing(tmp_path: Path, lines: list[str]) -> None:
    assert codes(run(tmp_path, lines, "run_done")) == []


def test_logs_are_read_once_the_run_is_over(tmp_path: Path) -> None:
    assert codes(run(tmp_path, [UNSEEDED], "run_begin")) == []
    assert len(codes(run(tmp_path, [UNSEEDED], "run_begin", "run_failed"))) == 1


def test_a_run_without_logs_has_a_result(tmp_path: Path) -> None:
    record = run(tmp_path, [], "run_done")
    (record.logs / LOG).unlink()
    record.logs.rmdir()
    assert codes(record) == []


def test_all_whole_lines_come_once_and_in_order_however_many(tmp_path: Path) -> None:
    lines = [f"{number} {'x' * 90}" for number in range(2 * PIECE_BYTES // 90)]
    record = run(tmp_path, lines)
    with (record.logs / LOG).open("a", encoding="utf-8") as file:
        file.write("cut off")
    pieces = list(log_pieces(record.logs))
    assert [line for piece in pieces for line in piece.lines] == lines
    assert {(piece.node, piece.process) for piece in pieces} == {("gpu-a", "valkey-single-fleet.1.engine")}
    assert [piece.first_line for piece in pieces][1] == len(pieces[0].lines) + 1


def test_a_log_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    record = run(tmp_path, [], "run_done")
    (record.logs / LOG).unlink()
    (record.logs / LOG).mkdir()
    with pytest.raises(RecordError, match=r"The log .*engine\.log cannot be read: "):
        record_result(record)
