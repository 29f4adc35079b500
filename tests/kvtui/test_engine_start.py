"""How an engine is started: LMCache's file, the command line, and why it failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from kvtui.engine_command import EngineHost, engine_argv
from kvtui.lmcache_config import Placement, config_for, to_yaml
from kvtui.loglines import clean
from kvtui.plan import Hash, Tier, TierKind
from remote.engine_failure import death_cause, root_cause
from tests.kvtui.plans import lab_plan

LOGS = Path(__file__).parents[1] / "data" / "logs"
PLACE = Placement(
    internal_port=7100, disk_dir="/kv/kvtui-run", store_address="10.0.0.5:6379", staging_gib=2.5
)
HOST = EngineHost(python="/env/bin/python", port=8000, config_path="/run/lmcache.yaml", model_path="/m")


def tier(kind: TierKind) -> Tier:
    return Tier(name="t", kind=kind, capacity_gib=3, path="/kv" if kind is TierKind.DISK else None, workers=6)


@pytest.mark.parametrize("kind", [TierKind.DRAM, TierKind.DISK, TierKind.VALKEY])
def test_each_tier_stands_alone_and_reads_back(kind: TierKind) -> None:
    config = config_for(tier(kind), Hash(), PLACE)
    assert yaml.safe_load(to_yaml(config)) == config
    assert config["local_cpu"] is (kind is TierKind.DRAM)
    assert ("local_disk" in config) is (kind is TierKind.DISK)
    assert ("remote_url" in config) is (kind is TierKind.VALKEY)
    assert config["max_local_cpu_size"] == 2.5
    assert config["internal_api_server_host"] == "127.0.0.1"
    assert config["internal_api_server_port_start"] == 7100
    assert config["save_unfull_chunk"] is False


def test_the_older_name_of_the_hash_becomes_the_newer() -> None:
    config = config_for(tier(TierKind.DRAM), Hash(algorithm="sha256_cbor_64bit"), PLACE)
    assert config["pre_caching_hash_algorithm"] == "sha256_cbor"


def test_the_stores_address_and_workers_are_written() -> None:
    config = config_for(tier(TierKind.VALKEY), Hash(), PLACE)
    assert config["remote_url"] == "valkey://10.0.0.5:6379"
    assert config["extra_config"] == {"valkey_num_workers": 6}


def test_a_password_goes_where_lmcache_looks_for_it() -> None:
    place = Placement(7100, "", "10.0.0.5:6379", 1.0, store_password="s3cret")
    extra = config_for(tier(TierKind.VALKEY), Hash(), place)["extra_config"]
    assert (extra["valkey_username"], extra["valkey_password"]) == ("s3cret", "")


def test_the_seed_stands_on_the_command_line() -> None:
    argv = engine_argv(lab_plan(), "gpu-a", TierKind.VALKEY, HOST)
    assert argv[0] == "env"
    assert "PYTHONHASHSEED=0" in argv[: argv.index("/env/bin/python")]
    assert "LMCACHE_CONFIG_FILE=/run/lmcache.yaml" in argv


def test_an_unset_seed_is_taken_from_what_the_node_inherits() -> None:
    plan = lab_plan()
    plan = plan.model_copy(update={"hash": plan.hash.model_copy(update={"seed_on": {"gpu-b": None}})})
    argv = engine_argv(plan, "gpu-b", TierKind.VALKEY, HOST)
    assert argv[1:3] == ("-u", "PYTHONHASHSEED")
    assert not any(word.startswith("PYTHONHASHSEED=") for word in argv)


def test_the_engine_has_no_cache_of_its_own_and_recomputes_what_is_lost() -> None:
    argv = engine_argv(lab_plan(), "gpu-a", TierKind.VALKEY, HOST)
    assert "--no-enable-prefix-caching" in argv
    transfer = json.loads(argv[argv.index("--kv-transfer-config") + 1])
    assert transfer["kv_load_failure_policy"] == "recompute"
    assert transfer["kv_role"] == "kv_both"
    assert "kv_connector_module_path" not in transfer


def test_the_baseline_runs_without_lmcache() -> None:
    host = EngineHost(python="p", port=1, config_path="", model_path="/m", connector_module="c")
    argv = engine_argv(lab_plan(), "gpu-a", TierKind.NONE, host)
    assert "--kv-transfer-config" not in argv
    assert not any(word.startswith("LMCACHE_CONFIG_FILE") for word in argv)


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        ("start-failed-gpu-memory", "ValueError: Free memory on device cuda:0 (92.84/139.8 GiB)"),
        ("degraded-no-cpu-connector-lmcache-0.5.6", "RuntimeError: No supported cpu connector found."),
    ],
)
def test_the_first_exception_of_a_real_log_is_the_cause(log: str, cause: str) -> None:
    lines = (LOGS / f"{log}.log").read_text(encoding="utf-8", errors="replace").splitlines()
    found = root_cause([clean(line) for line in lines])
    assert found.sentence.startswith(cause)
    assert any(cause.split(": ", 1)[1] in line for line in found.lines)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "it wrote nothing to its log"),
        (["OSError: [Errno 98] Address already in use"], "a port that it needs is taken"),
        (["api_server.py: error: unrecognized arguments: --x"], "unrecognized arguments: --x"),
        (
            [
                "(EngineCore pid=1) ImportError: libx.so: no such file",
                "RuntimeError: Engine core initialization failed.",
            ],
            "ImportError: libx.so: no such file",
        ),
        (["(EngineCore pid=1) KeyError"], "KeyError"),
        (["Killed", ""], "its last line is: Killed"),
    ],
)
def test_the_cause_in_one_sentence(lines: list[str], sentence: str) -> None:
    assert root_cause(lines).sentence == sentence


UP = "INFO:     Application startup complete."
GONE = "(APIServer pid=1) vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["ValueError: of the start", UP, "MemoryError: no room"], "MemoryError: no room"),
        (
            [
                UP,
                "ValueError: of one request",
                "(EngineCore pid=2) ERROR 11-29 [core.py:1] EngineCore encountered a fatal error.",
                "(EngineCore pid=2) RuntimeError: CUDA error: an illegal memory access",
                GONE,
            ],
            "RuntimeError: CUDA error: an illegal memory access",
        ),
        (
            [UP, "ValueError: of one request", GONE],
            "its core process went without a word, as when it is killed or the memory runs out",
        ),
        ([UP], "its log says nothing of it"),
    ],
)
def test_why_an_engine_that_served_has_ended(lines: list[str], sentence: str) -> None:
    assert death_cause(lines).sentence == sentence


def test_the_core_of_a_real_engine_that_was_killed() -> None:
    log = next((LOGS.parent / "runs" / "engine-killed" / "logs").glob("*.log"))
    lines = [clean(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert death_cause(lines).sentence.startswith("its core process went without a word")
