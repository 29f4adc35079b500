"""Facts from an agent's answer: hostile, torn or empty, it never fails and invents nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kvtui import nodefacts
from kvtui.node_reading import node_facts
from kvtui.nodefacts import GpuProcess, ModelFolder, Mount
from tests.kvtui.models import QWEN_7B


def read(machine: dict[str, Any], engine: dict[str, Any] | None = None) -> nodefacts.NodeFacts:
    return node_facts("gpu-a", machine, engine, read_wall_s=1.0)


def test_an_empty_answer_is_all_unknown() -> None:
    facts = read({})
    known = {name: value for name, value in facts.to_json().items() if value is not None}
    assert known == {"name": "gpu-a", "read_wall_s": 1.0, "versions": {}, "engine_problem": ""}


def test_remote_text_is_made_harmless() -> None:
    facts = read(
        {
            "hostname": "a\x1b]0;owned\x07b\n\x1b[2Jc",
            "cpu_model": "x" * 100_000,
            "gpus": [
                {"name": "H\x1b[31m200", "foreign": [{"pid": 7, "name": "e\x07vil", "memory_bytes": 1}]}
            ],
        },
        {"versions": {"vllm": "0.28\x1b[0m"}, "problem": "no\r\npython", "models": []},
    )
    assert facts.hostname == "ab c"
    assert facts.cpu_model is not None
    assert len(facts.cpu_model) == 300
    assert facts.gpus is not None
    assert facts.gpus[0].name == "H200"
    assert facts.gpus[0].foreign == (GpuProcess(7, "evil", 1),)
    assert facts.versions == {"vllm": "0.28"}
    assert facts.engine_problem == "no python"


def test_what_cannot_be_made_out_is_left_out() -> None:
    mounts = [
        {"path": "/", "device": "/dev/vda", "fstype": "ext4", "kind": "marble", "free_bytes": -1},
        {"device": "no path"},
        "no object",
    ]
    facts = read({"mounts": mounts, "cores": True, "ram_total_bytes": "many", "can_drop_caches": 1})
    assert facts.mounts == (Mount("/", "/dev/vda", "ext4", "unknown", None, None),)
    assert (facts.cores, facts.ram_total_bytes, facts.can_drop_caches) == (None, None, None)


def test_the_kv_size_of_models() -> None:
    rows = [
        {"path": "/m/a", "name": "Qwen/Qwen2.5-7B", "config": QWEN_7B, "problem": ""},
        {"path": "/m/b", "name": "b", "config": {"architectures": ["Mamba2"]}, "problem": ""},
        {"path": "/m/c", "name": "c", "config": None, "problem": "/m/c/config.json is not JSON"},
    ]
    models = read({}, {"models": rows}).models
    assert models is not None
    assert models[0] == ModelFolder("/m/a", "Qwen/Qwen2.5-7B", 57_344)
    assert models[1].kv_bytes_per_token is None
    assert "Mamba2" in models[1].why_unknown
    assert models[2] == ModelFolder("/m/c", "c", None, "/m/c/config.json is not JSON")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    [
        "hostname",
        "cores",
        "gpus",
        "mounts",
        "nics",
        "listeners",
        "thp",
        "foreign",
        "path",
        "pid",
        "name",
        "kind",
    ]
)
answers = st.dictionaries(keys, json_values | st.lists(st.dictionaries(keys, json_values), max_size=3))


@given(
    answers, st.fixed_dictionaries({"models": json_values, "versions": json_values, "problem": json_values})
)
def test_no_answer_raises_and_every_one_survives_json(
    machine: dict[str, Any], engine: dict[str, Any]
) -> None:
    facts = read(machine, engine)
    assert nodefacts.from_json(facts.to_json()) == facts
    facts.mount_of("/mnt/kv")
