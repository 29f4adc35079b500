"""Two plans side by side, and plans that are begun, changed and copied."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import yaml

from kvtui.check import compare
from kvtui.errors import PlanError
from kvtui.hosts_file import NodeEntry, Role
from kvtui.plan import Order, Policy, TierKind, Topology, parse_plan
from kvtui.plan_commands import engine_starts, script
from kvtui.plan_edit import set_fields
from kvtui.plan_new import new_plan
from kvtui.plan_text import changed_text
from kvtui.recordings import PLANS
from tests.kvtui.knowing import NOTHING, QWEN, changed, h200_plan, seed_plan, tier, with_capacity
from tests.kvtui.plans import lab_plan

SEED_TEXT = (PLANS / "seed.toml").read_text(encoding="utf-8")


def test_a_difference_says_what_follows_from_it() -> None:
    other = changed(
        with_capacity(seed_plan(), "dram", 16), hash={"seed_on": {"gpu-b": "1"}}, corpus={"documents": 20}
    )
    rows = {row.field: row for row in compare(seed_plan(), other, NOTHING)}
    assert list(rows) == ["corpus.documents", "tiers.dram.capacity_gib", "hash.seed_on.gpu-b"]
    assert (rows["corpus.documents"].a, rows["corpus.documents"].b) == ("30", "20")
    assert rows["corpus.documents"].consequence == "working set 16.0 GiB → 10.7 GiB"
    assert rows["tiers.dram.capacity_gib"].consequence == "keeps 0/30 → 20/20 (single)"
    assert rows["hash.seed_on.gpu-b"].consequence == "nodes share: yes → no"
    assert rows["hash.seed_on.gpu-b"].a is None


def test_a_tier_that_only_one_plan_has_is_said_so() -> None:
    less = changed(seed_plan(), tiers=seed_plan().tiers[:2])
    assert {row.consequence for row in compare(seed_plan(), less, NOTHING)} == {
        "only one plan measures this tier"
    }


def test_fields_are_set_as_they_are_typed() -> None:
    plan = set_fields(
        seed_plan(),
        (
            "tiers.dram.capacity_gib=20",
            "hash.seed=7",
            "hash.seed_on.gpu-b=unset",
            "tiers.disk.policy=MRU",
            "passes.order=shuffled",
            'passes.topologies=["single"]',
            "hash.accept_differing=true",
            'engine.extra_args=["-tp", "2"]',
            "store.password_env=SECRET",
            "nodes.gpu-c.ssh=user@gpu-c",
            "corpus.seed=",
            "tiers.valkey=",
        ),
    )
    assert [one.name for one in plan.tiers] == ["dram", "disk"]
    assert (plan.tier("dram").capacity_gib, plan.tier("disk").policy) == (20, Policy.MRU)
    assert (plan.hash.seed_for("gpu-a"), plan.hash.seed_for("gpu-b")) == ("7", None)
    assert (plan.passes.order, plan.passes.topologies) == (Order.SHUFFLED, (Topology.SINGLE,))
    assert (plan.hash.accept_differing, plan.engine.extra_args) == (True, ("-tp", "2"))
    assert plan.store is not None
    assert (plan.store.password_env, plan.nodes["gpu-c"].ssh) == ("SECRET", "user@gpu-c")


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("tiers.drm.capacity_gib=20", "there is no tier 'drm'; there are dram, disk, valkey"),
        ("tiers.dram.size=20", "no field tiers.dram.size"),
        ("corpus.documents=many", "corpus.documents"),
        ("corpus.documents=0", "corpus.documents"),
        ("hash.seed=abc", "hash.seed"),
        ("nodes=", "no field nodes"),
        ("nonsense=1", "no field nonsense"),
        ("nonsense", "names no field and value"),
        ("=1", "names no field and value"),
        ("tiers.valkey.policy=MRU", "takes no policy"),
        ("nodes.gpu-b=", 'node "gpu-b"'),
    ],
)
def test_a_field_that_cannot_be_set_is_named(assignment: str, words: str) -> None:
    with pytest.raises(PlanError) as caught:
        set_fields(seed_plan(), ("corpus.documents=3", assignment), "my.toml")
    assert words in caught.value.message


def test_a_changed_plan_keeps_the_words_of_its_author() -> None:
    before = seed_plan()
    after = set_fields(
        before,
        (
            "tiers.dram.capacity_gib=20",
            "hash.seed=7",
            "nodes.gpu-a.hourly_price=2.5",
            "passes.order=reversed",
        ),
    )
    text = changed_text(SEED_TEXT, before, after)
    assert parse_plan(text, "x") == after
    old, new = SEED_TEXT.splitlines(), text.splitlines()
    assert [line for line in old if line not in new] == ['seed = "0"', "capacity_gib = 8"]
    assert [line for line in new if line not in old] == [
        'seed = "7"',
        "hourly_price = 2.5",
        'order = "reversed"',
        "capacity_gib = 20.0",
    ]


def test_a_comment_behind_a_value_stays_and_a_field_can_go() -> None:
    text = SEED_TEXT.replace("documents = 30", "documents = 30 # as published")
    before = parse_plan(text, "x")
    after = set_fields(before, ("corpus.documents=8", "model.kv_bytes_per_token="))
    edited = changed_text(text, before, after)
    assert "documents = 8 # as published" in edited
    assert "kv_bytes_per_token" not in edited
    assert parse_plan(edited, "x") == after


def test_what_does_not_fit_into_the_text_is_written_anew() -> None:
    inline = SEED_TEXT.replace("[corpus]\ndocuments = 30\ntokens = 10000\n", "")
    inline = inline.replace(
        'name = "seed"\n', 'name = "seed"\ncorpus = { documents = 30, tokens = 10000 }\n', 1
    )
    before = parse_plan(inline, "x")
    for assignment in ("corpus.documents=8", "tiers.dram="):
        after = set_fields(before, (assignment,))
        assert parse_plan(changed_text(inline, before, after), "x") == after


def _entry(name: str, *roles: Role) -> NodeEntry:
    return NodeEntry(name=name, ssh=f"me@{name}.example:2222", roles=roles, hourly_price=1.5)


def test_a_new_plan_stands_on_the_configured_nodes() -> None:
    entries = (
        _entry("one", Role.GPU),
        _entry("kv", Role.STORE),
        _entry("two", Role.GPU),
        _entry("three", Role.GPU),
    )
    plan = new_plan(seed_plan(), entries)
    assert plan.engine_nodes == ("one", "two")
    assert plan.nodes["one"].ssh == "me@one.example:2222"
    assert plan.nodes["two"].hourly_price == 1.5
    assert plan.store is not None
    assert (plan.store.node, plan.store.address) == ("kv", "kv.example")
    assert [one.kind for one in plan.tiers] == [TierKind.DRAM, TierKind.DISK, TierKind.VALKEY]


def test_a_new_plan_asks_for_no_more_than_there_is() -> None:
    plan = new_plan(seed_plan(), (_entry("one", Role.GPU),))
    assert plan.passes.topologies == (Topology.SINGLE,)
    assert [one.kind for one in plan.tiers] == [TierKind.DRAM, TierKind.DISK]
    both = new_plan(seed_plan(), (_entry("one", Role.GPU, Role.STORE),))
    assert both.needs_store
    assert new_plan(seed_plan(), (_entry("kv", Role.STORE),)) == seed_plan()


def test_the_commands_are_those_of_every_tier_and_node() -> None:
    plan = changed(h200_plan(), passes={"topologies": tuple(Topology)}, hash={"seed_on": {"gpu-b": "1"}})
    starts = engine_starts(plan, QWEN)
    assert [(one.tier, one.node) for one in starts] == [
        (kind.value, node) for kind in TierKind for node in ("gpu-a", "gpu-b")
    ]
    by = {(one.tier, one.node): one for one in starts}
    assert by["none", "gpu-a"].config == ""
    assert "kv-transfer-config" not in by["none", "gpu-a"].command
    assert "PYTHONHASHSEED=0" in by["dram", "gpu-a"].command
    assert "PYTHONHASHSEED=1" in by["dram", "gpu-b"].command
    disk = yaml.safe_load(by["disk", "gpu-a"].config)
    assert disk["local_disk"] == "/mnt/nvme/kv/kvtui-RUN"
    assert (disk["max_local_disk_size"], disk["cache_policy"]) == (100, "LRU")
    assert disk["max_local_cpu_size"] == pytest.approx(2.136)
    assert yaml.safe_load(by["valkey", "gpu-a"].config)["remote_url"] == "valkey://valkey:6379"
    assert "max_local_cpu_size" not in yaml.safe_load(engine_starts(plan, None)[4].config)
    assert yaml.safe_load(engine_starts(plan, None)[2].config)["max_local_cpu_size"] == 24


def test_the_commands_hold_no_password_and_the_shell_fills_it_in() -> None:
    plan = set_fields(seed_plan(), ("store.password_env=KV_SECRET", "tiers.disk.path=~/kv $(boom)"))
    text = script(plan, QWEN)
    shell = shutil.which("sh")
    assert shell is not None
    heredocs = text.split("cat > ")[1:]
    filled = []
    for heredoc in heredocs:
        body = "cat <<EOF" + heredoc.partition("<<EOF")[2].partition("\nEOF")[0] + "\nEOF\n"
        done = subprocess.run(
            [shell, "-c", body],
            env={"KV_SECRET": "s3cret", "HOME": "/home/me"},
            capture_output=True,
            check=True,
        )
        filled.append(yaml.safe_load(done.stdout))
    assert "s3cret" not in text
    assert filled[-1]["extra_config"]["valkey_username"] == "s3cret"
    assert filled[2]["local_disk"] == "/home/me/kv $(boom)/kvtui-RUN"


def test_the_commands_of_a_lab_plan_say_what_kvtui_fills_in() -> None:
    assert "On the lab" in script(lab_plan(), None)
    policy = changed(seed_plan(), tiers=(tier(TierKind.DRAM, 24, policy=Policy.FIFO),))
    assert yaml.safe_load(engine_starts(policy, QWEN)[0].config)["cache_policy"] == "FIFO"
