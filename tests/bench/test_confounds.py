"""The suite of planted confounds: what counts as detected, and that its plants can be planted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from bench.confounds import faulty, plants
from bench.confounds.__main__ import PAGE, ROOT, in_order, turns
from bench.confounds.outcome import Outcome, Seen, read, seen, write
from bench.confounds.page import RECORD, page, problems
from bench.confounds.plant import Plant, clean_campaigns
from bench.confounds.scene import Scene, TooLate
from bench.confounds.stage import CLOCK_FILE, FAULT_FILE, wrapper
from bench.redact import redact
from kvtui.findings import Finding, Level
from kvtui.plan import parse_plan
from kvtui.plan_toml import to_toml
from remote.lab.info import LabInfo, LabParts, StoreAddress
from remote.lab.paths import LabPaths

ALL = plants.plants()


def outcome(plant: str = "", *codes: str, level: str = "warning", exit_code: int = 0) -> Outcome:
    found = tuple(Seen(level, code, "somewhere", "Something.", ("result",)) for code in codes)
    return Outcome(plant, "valkey-single", 1, "0" * 40, "2026-11-30", 40.0, exit_code, "", found)


def test_at_least_twenty_confounds_are_planted_each_by_a_name_of_its_own() -> None:
    assert len({plant.name for plant in ALL}) == len(ALL) >= 20
    assert all(plant.demands for plant in ALL)


@pytest.mark.parametrize("plan", [*(plant.plan for plant in ALL), *clean_campaigns()], ids=lambda p: p.name)
def test_every_campaign_is_a_plan(plan: object) -> None:
    text = to_toml(plan)  # type: ignore[arg-type]
    assert parse_plan(text, "plan") == plan


def test_only_findings_above_info_detect() -> None:
    assert outcome("x", "a", "b").detects(("a",))
    assert not outcome("x", "b").detects(("a",))
    assert not outcome("x", "a").detects(("a", "b"))
    assert not outcome("x", "a", level="info").detects(("a",))
    assert not replace(outcome("x", "a"), fault="It was not planted.").detects(("a",))


def test_what_is_recorded_names_no_path_of_the_machine() -> None:
    path = "/srv/bench-7/data/kvtui"
    one = Finding(Level.WARNING, "code", f"gpu-a {path}/lab/model, /root/.cache/x", "", "where")
    (found,) = seen([("live", [one])], {path: "~/.local/share/kvtui"})
    assert found.text == "gpu-a ~/.local/share/kvtui/lab/model, /home/user/.cache/x"


@pytest.mark.parametrize(
    "record", sorted((ROOT / "docs" / "records").rglob("*.json")), ids=lambda path: str(path.name)
)
def test_committed_records_name_no_path_of_a_machine(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    assert redact(text, {}) == text
    assert "/tmp/" not in text


def test_a_finding_that_is_shown_twice_is_one() -> None:
    one = Finding(Level.WARNING, "a", "Something.", "Do something.", "somewhere")
    assert seen([("check", [one]), ("live", [one, one])], {}) == (
        Seen("warning", "a", "somewhere", "Something.", ("check", "live")),
    )


def test_outcomes_are_kept(tmp_path: Path) -> None:
    done = [outcome("x", "a"), outcome()]
    write(tmp_path / "records" / "confounds.json", done)
    assert read(tmp_path / "records" / "confounds.json") == done
    assert read(tmp_path / "none.json") == []


def test_a_round_of_every_plant_comes_before_the_next_and_clean_ones_in_between() -> None:
    found = list(turns(ALL[:2], rounds=2, clean=5))
    names = [plant.name if plant else "" for plant, _, _ in found]
    assert names == [ALL[0].name, ALL[1].name, "", "", ALL[0].name, ALL[1].name, "", "", ""]
    keys = {(plant.name if plant else "", plan.name, turn) for plant, plan, turn in found}
    assert len(keys) == len(found)


def test_outcomes_are_in_the_order_of_the_plants_and_those_of_plants_that_are_gone_are_left_out() -> None:
    again = replace(outcome(ALL[0].name), round=2)
    done = [outcome(), again, outcome(ALL[1].name), outcome("gone"), outcome(ALL[0].name)]
    assert in_order(ALL, done) == [done[4], again, done[2], done[0]]


def test_every_demanded_code_is_one_that_kvtui_gives() -> None:
    sources = [*(ROOT / "kvtui").rglob("*.py"), *(ROOT / "kvtui" / "rules").rglob("*.toml")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    assert [code for plant in ALL for code in plant.demands if f'"{code}"' not in text] == []


def test_the_page_and_the_problems_say_what_was_found_and_what_was_not() -> None:
    first, second = ALL[:2]
    done = [
        outcome(first.name, *first.demands, "also"),
        outcome(second.name, "also"),
        outcome(),
        outcome("", "loud"),
    ]
    text = page(ALL, done)
    assert f"| {first.confound} |" in text
    assert "| 1/1 | `also` |" in text
    assert "| **0/1** |" in text
    assert "not measured" in text
    assert "2 campaigns (2 × valkey-single); 1 of them with a finding above info." in text
    said = problems(ALL, done)
    assert [line.partition(",")[0] for line in said] == [second.name, "clean valkey-single"]
    assert "loud (Something.)" in said[1]
    assert problems(ALL, [done[0], done[2]]) == ()


def test_the_page_says_what_was_recorded() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(ALL, read(ROOT / RECORD))


def test_the_record_is_of_plants_that_there_are() -> None:
    assert {one.plant for one in read(ROOT / RECORD)} <= {plant.name for plant in ALL} | {""}


def test_what_could_not_be_planted_is_a_problem_and_no_miss() -> None:
    first = ALL[0]
    late = replace(outcome(first.name), fault="the run was over before the moment came")
    assert problems(ALL, [late]) == (f"{first.name}, round 1: the run was over before the moment came",)


def engine_sees(home: Path, fault: str | None, *arguments: str) -> list[str]:
    """The arguments that an engine gets by way of the wrapper, and the settings that LMCache reads."""
    told = home / "told.py"
    told.write_text("import json, sys; print(json.dumps(sys.argv[1:]))", encoding="utf-8")
    script = home / "engine-python"
    script.write_text(wrapper(sys.executable).replace('"$@"', f'{told} "$@"'), encoding="utf-8")
    if fault is not None:
        (home / FAULT_FILE).write_text(fault, encoding="utf-8")
    env = {**os.environ, "HOME": str(home), "LMCACHE_CONFIG_FILE": str(home / "lmcache.yaml")}
    words = ["sh", str(script), "-m", "vllm.entrypoints.openai.api_server", *arguments]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found[2:]


def by_name(name: str) -> Plant:
    return next(plant for plant in ALL if plant.name == name)


def test_an_engine_without_a_fault_gets_what_it_is_given(tmp_path: Path) -> None:
    assert engine_sees(tmp_path, None, "--model", "a b", "") == ["--model", "a b", ""]


def test_an_engine_with_its_prefix_cache_turned_on_keeps_its_other_arguments(tmp_path: Path) -> None:
    fault = by_name("prefix-cache-on").engine_faults["gpu-a"]
    given = ["--model", "a b", "--no-enable-prefix-caching", '{"x": 1}']
    assert engine_sees(tmp_path, fault, *given) == ["--model", "a b", "--enable-prefix-caching", '{"x": 1}']


def test_an_engine_loads_the_same_model_from_another_path(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    fault = by_name("model-path-differing").engine_faults["gpu-b"]
    given = ["--model", str(tmp_path / "a b"), "--port", "1"]
    assert engine_sees(tmp_path, fault, *given) == ["--model", f"{tmp_path}/other-model", "--port", "1"]
    assert (tmp_path / "other-model").resolve() == tmp_path / "a b"


@pytest.mark.parametrize("name", ["algorithm-differing", "chunk-size-differing", "staging-too-small"])
def test_a_setting_of_lmcache_is_changed_and_no_other(name: str, tmp_path: Path) -> None:
    before = "chunk_size: 256\nmax_local_cpu_size: 1.0\npre_caching_hash_algorithm: sha256_cbor\nx: 1\n"
    config = tmp_path / "lmcache.yaml"
    config.write_text(before, encoding="utf-8")
    (fault,) = by_name(name).engine_faults.values()
    engine_sees(tmp_path, fault)
    changed = set(config.read_text(encoding="utf-8").splitlines()) - set(before.splitlines())
    assert len(changed) == 1


def node_time(package: Path, home: Path) -> float:
    words = [sys.executable, "-I", "-S", str(package), "clock"]
    env = {**os.environ, "HOME": str(home)}
    done = subprocess.run(words, input="\n", env=env, capture_output=True, text=True, check=True)
    return float(done.stdout.removeprefix("kvtui:"))


def test_a_nodes_programs_read_a_clock_that_steps(tmp_path: Path) -> None:
    package = tmp_path / "agent.pyz"
    package.write_bytes(faulty.stepping_package().data)
    assert abs(node_time(package, tmp_path) - time.time()) < faulty.CLOCK_STEP_S / 2
    (tmp_path / CLOCK_FILE).touch()
    assert node_time(package, tmp_path) - time.time() > faulty.CLOCK_STEP_S / 2


LAB = LabInfo("id", 1, 1, 0.0, None, {}, StoreAddress("127.0.0.1", 1, 1, 1), LabParts("", "", "", "", "", ""))


def test_an_act_waits_for_its_moment_in_a_record_that_is_not_there_yet(tmp_path: Path) -> None:
    record = tmp_path / "run"
    scene = Scene(LAB, LabPaths(tmp_path, tmp_path), lambda: record if record.exists() else None)
    reached: list[str] = []

    def act() -> None:
        scene.wait_step("/cold/single")
        reached.append(scene.run)

    thread = Thread(target=act)
    thread.start()
    record.mkdir()
    line = json.dumps({"kind": "step_begin", "step": "valkey-single.1/cold/single"})
    with (record / "events.jsonl").open("w", encoding="utf-8") as file:
        file.write(line[:10])
        file.flush()
        file.write(line[10:] + "\n")
    thread.join(timeout=10)
    assert reached == ["run"]


def test_a_moment_that_never_came_is_told(tmp_path: Path) -> None:
    scene = Scene(LAB, LabPaths(tmp_path, tmp_path), lambda: None)
    scene.over.set()
    with pytest.raises(TooLate):
        scene.wait_answers("single.cached", 1)
