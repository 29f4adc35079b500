"""``kvtui plan`` and ``kvtui check``: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from kvtui.check import Known
from kvtui.cli import app
from kvtui.errors import ExitCode, PlanError
from kvtui.plan import load_plan
from kvtui.plan_toml import to_toml
from kvtui.recordings import PLANS
from kvtui.services.known import Reading
from kvtui.services.plans import PlanStore
from remote.errors import NodeUnreachable, RemoteError, StoreUnavailable
from tests.kvtui.knowing import QWEN, facts, seed_plan

SEED = str(PLANS / "seed.toml")


@pytest.fixture(autouse=True)
def _own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


def kvtui(*arguments: str, code: ExitCode = ExitCode.OK) -> Result:
    ended = CliRunner().invoke(app, list(arguments))
    assert ended.exit_code == code, ended.output
    return ended


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "my.toml"
    path.write_text((PLANS / "seed.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.mark.parametrize(("option", "name"), [((), "seed"), (("--from", "lab"), "lab"), (("--lab",), "lab")])
def test_a_new_plan_is_one_of_kvtuis_own_with_words_on_it(
    option: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "new.toml"
    kvtui("plan", "new", str(path), *option)
    assert load_plan(path) == load_plan(PLANS / f"{name}.toml")
    assert "# LMCache's chunk_size" in path.read_text(encoding="utf-8")
    assert kvtui("plan", "new", *option).stdout == path.read_text(encoding="utf-8")
    again = kvtui("plan", "new", str(path), code=ExitCode.USAGE)
    assert "There is a file" in again.stderr


def test_a_new_plan_takes_the_nodes_of_the_person(tmp_path: Path) -> None:
    config = tmp_path / "config" / "kvtui"
    config.mkdir(parents=True)
    (config / "hosts.toml").write_text('[nodes.big]\nssh = "big"\nhourly_price = 3.5\n', encoding="utf-8")
    path = tmp_path / "new.toml"
    kvtui("plan", "new", str(path))
    assert load_plan(path).nodes["big"].hourly_price == 3.5


def test_a_plan_is_shown_with_fit_sharing_forecast_and_findings() -> None:
    text = kvtui("plan", "show", SEED).stdout
    for part in (
        "Fit:",
        "0/30",
        "15.9961",
        "Sharing:",
        "PYTHONHASHSEED",
        "Forecast:",
        "[capacity-too-small]",
    ):
        assert part in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_plan_is_shown_as_json_and_as_commands() -> None:
    data = json.loads(kvtui("plan", "show", SEED, "--json").stdout)
    assert (data["v"], data["blocked"], data["kv"]["token_bytes"]) == (1, False, 57_344)
    assert data["fits"][0]["reuse"]["single"] == {"low": 0, "high": 0, "of": 30, "refused": False}
    assert "vllm.entrypoints" in kvtui("plan", "show", SEED, "--commands").stdout


def test_a_file_that_is_no_plan_is_told_by_field(plan_file: Path) -> None:
    kvtui("plan", "validate", str(plan_file))
    plan_file.write_text(plan_file.read_text().replace("documents = 30", "documents = 0"))
    assert "corpus.documents" in kvtui("plan", "validate", str(plan_file), code=ExitCode.USAGE).stderr
    assert "no plan" in kvtui("plan", "validate", "nowhere.toml", code=ExitCode.USAGE).stderr


def test_set_changes_all_fields_or_none(plan_file: Path) -> None:
    before = plan_file.read_bytes()
    kvtui("plan", "set", str(plan_file), "corpus.documents=3", "hash.seed=abc", code=ExitCode.USAGE)
    assert plan_file.read_bytes() == before
    told = kvtui("plan", "set", str(plan_file), "corpus.documents=3", "tiers.dram.capacity_gib=20")
    assert told.stdout == ""
    assert told.stderr.splitlines() == ["corpus.documents: 30 → 3", "tiers.dram.capacity_gib: 8 → 20"]
    again = kvtui("plan", "set", str(plan_file), "tiers.dram.capacity_gib=20")
    assert again.stderr == f"{plan_file} says so already.\n"
    plan = load_plan(plan_file)
    assert (plan.corpus.documents, plan.tier("dram").capacity_gib) == (3, 20)
    assert b"# as the engines' hosts resolve it" in plan_file.read_bytes()
    assert [path.name for path in plan_file.parent.glob("*my.toml*")] == ["my.toml"]


def test_two_plans_are_compared(plan_file: Path) -> None:
    assert "the same" in kvtui("plan", "compare", SEED, str(plan_file)).stdout
    kvtui("plan", "set", str(plan_file), "tiers.dram.capacity_gib=16")
    assert "0/30 → 30/30" in kvtui("plan", "compare", SEED, str(plan_file)).stdout
    data = json.loads(kvtui("plan", "compare", SEED, str(plan_file), "--json").stdout)
    assert data["differences"][0]["field"] == "tiers.dram.capacity_gib"


def test_check_offline_asks_no_node(plan_file: Path) -> None:
    assert "[capacity-too-small]" in kvtui("check", SEED, "--offline").stdout
    kvtui("plan", "set", str(plan_file), "tiers.dram.capacity_gib=16")
    assert kvtui("check", str(plan_file), "--offline").stdout.startswith("✓")


def test_check_ends_with_five_where_a_finding_blocks(plan_file: Path) -> None:
    kvtui("plan", "set", str(plan_file), "hash.seed_on.gpu-b=1")
    blocked = kvtui("check", str(plan_file), "--offline", code=ExitCode.PREFLIGHT)
    assert blocked.stdout.startswith("✗ fleet: ")
    data = json.loads(kvtui("check", str(plan_file), "--offline", "--json", code=ExitCode.PREFLIGHT).stdout)
    assert [one["code"] for one in data["findings"]] == ["hash-seed-differs", "capacity-too-small"]


def _reads(monkeypatch: pytest.MonkeyPatch, known: Known, failures: dict[str, RemoteError]) -> None:
    async def read(*_: Any) -> Reading:
        return Reading(known, failures)

    monkeypatch.setattr("kvtui.services.known.read_known", read)


def test_check_reads_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Known(shape=QWEN, facts={"gpu-a": facts(ram_gib=8, free_gib=4)})
    _reads(monkeypatch, small, {})
    assert "[capacity-beyond-ram]" in kvtui("check", SEED, code=ExitCode.PREFLIGHT).stdout


@pytest.mark.parametrize(
    ("failures", "code"),
    [
        ({"gpu-b": NodeUnreachable("gpu-b does not answer.")}, ExitCode.UNREACHABLE),
        ({"store": StoreUnavailable("Nothing answers at valkey.")}, ExitCode.PREFLIGHT),
    ],
)
def test_check_says_what_it_could_not_read(
    failures: dict[str, RemoteError], code: ExitCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    _reads(monkeypatch, Known(shape=QWEN), failures)
    ended = kvtui("check", SEED, code=code)
    assert "[capacity-too-small]" in ended.stdout
    assert str(next(iter(failures.values()))) in ended.stderr
    assert (
        json.loads(kvtui("check", SEED, "--json", code=code).stdout)["unreachable"].keys() == failures.keys()
    )


def test_check_of_a_lab_that_is_down_says_how_to_start_it() -> None:
    assert "kvtui lab up" in kvtui("check", str(PLANS / "lab.toml"), code=ExitCode.UNREACHABLE).stderr


def test_plans_are_kept_by_their_names(tmp_path: Path) -> None:
    store = PlanStore(tmp_path / "plans")
    assert store.names() == ()
    path = store.save(seed_plan())
    (path.parent / "Not A Name.toml").write_text("")
    assert store.names() == ("seed",)
    assert store.load("seed") == seed_plan()
    assert path.read_text(encoding="utf-8") == to_toml(seed_plan())
    with pytest.raises(PlanError, match="is no name"):
        store.load("../seed")


def test_repeats_and_order_are_told_of_a_plan(plan_file: Path) -> None:
    assert (
        "Cold passes take the documents in an order shuffled from seed 0."
        in kvtui("plan", "show", str(plan_file)).stdout
    )
    kvtui("plan", "set", str(plan_file), "passes.repeats=2", "passes.cold_order=listed")
    shown = kvtui("plan", "show", str(plan_file)).stdout
    assert "2 repeats, the tiers in the order dram, disk, valkey; valkey, disk, dram." in shown
    assert "Cold passes take the documents as listed." in shown
    commands = kvtui("plan", "show", str(plan_file), "--commands").stdout
    assert "A run has 2 repeats" in commands
    assert "repeats = 2" in plan_file.read_text()
