"""Plans: what is taken, what is refused, and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.errors import ExitCode, PlanError
from kvtui.plan import Plan, Topology, load_plan, parse_plan
from kvtui.recordings import PLANS

GOOD = """
name = "good"
[model]
path = "m"
served_name = "m"
[corpus]
documents = 2
tokens = 300
[nodes.gpu-a]
ssh = "a"
[nodes.gpu-b]
ssh = "b"
[[tiers]]
name = "dram"
kind = "dram"
capacity_gib = 1
"""


def test_the_plans_that_come_with_kvtui_are_valid() -> None:
    lab, seed = load_plan(PLANS / "lab.toml"), load_plan(PLANS / "seed.toml")
    assert [tier.name for tier in lab.tiers] == ["none", "dram", "dram-small", "disk", "valkey"]
    assert (lab.corpus.documents, lab.corpus.tokens) == (8, 2064)
    assert (seed.corpus.documents, seed.corpus.tokens) == (30, 10_000)
    assert [tier.capacity_gib for tier in seed.tiers] == [8, 100, 48]
    assert sorted(seed.nodes) == ["gpu-a", "gpu-b", "valkey"]
    assert seed.passes.topologies == (Topology.SINGLE, Topology.FLEET)


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("capacity_gib = 1", "capacity_gib = 0", "tiers[1].capacity_gib"),
        ("capacity_gib = 1", "capacity_gib = -1", "tiers[1].capacity_gib"),
        ("capacity_gib = 1", "capacity_gib = nan", "tiers[1].capacity_gib"),
        ("capacity_gib = 1", "", "needs capacity_gib"),
        ("capacity_gib = 1", "capacity_gb = 1", "tiers[1].capacity_gb: unknown field"),
        ('kind = "dram"', 'kind = "disk"', "needs a path"),
        ('kind = "dram"', 'kind = "tape"', "tiers[1].kind"),
        ('kind = "dram"', 'kind = "none"', "takes no capacity_gib"),
        ('kind = "dram"', 'kind = "valkey"', "needs a [store]"),
        ('name = "good"', 'name = "Not Good"', "name"),
        ("documents = 2", "documents = 0", "corpus.documents"),
        ("tokens = 300", "tokens = 16384", "do not fit max_model_len"),
        ("tokens = 300", "tokens = 300\nsize = 1", "corpus.size: unknown field"),
        ("[nodes.gpu-b]", "[nodes.gpu-c]", 'node "gpu-b" has no [nodes.gpu-b]'),
        ("[corpus]", '[hash]\nseed = "abc"\n[corpus]', "hash.seed"),
        ("[corpus]", '[hash]\nalgorithm = "md5"\n[corpus]', "hash.algorithm"),
        ("[corpus]", '[hash]\nseed_on = {gpu-b = "-1"}\n[corpus]', "hash.seed_on"),
        ("[corpus]", '[passes]\ncached_node = "gpu-a"\n[corpus]', "a fleet needs two nodes"),
        ("[corpus]", '[passes]\ntopologies = ["fleet"]\nfleet_cold = "shared"\n[corpus]', "shared"),
        ("[corpus]", '[passes]\ntopologies = ["single", "single"]\n[corpus]', "each once"),
        ("[model]", "[model", "is not TOML"),
        ("documents = 2", "documents = true", "corpus.documents: a whole number, not true"),
        ("documents = 2", 'documents = "8"', 'a whole number, not the text "8"'),
        ("documents = 2", "documents = 2.0", "a whole number, not 2.0"),
        ("documents = 2", "documents = [2]", "a whole number, not a list"),
        ("documents = 2", "documents = 2026-01-01", "a whole number, not a table"),
        ("capacity_gib = 1", "capacity_gib = true", "a number, not true"),
        ("capacity_gib = 1", 'capacity_gib = "1"', 'a number, not the text "1"'),
        ("[model]", 'lab = "yes"\n[model]', 'true or false, not the text "yes"'),
        ('path = "m"', "path = 1", "model.path: a text, not 1"),
        ("tokens = 300", "tokens = 300\nprefix_tokens = -1", "corpus.prefix_tokens"),
        ("tokens = 300", "tokens = 16000\nprefix_tokens = 400", "after a prefix of 400"),
        ("tokens = 300", "tokens = 100\nprefix_tokens = 300", "add no whole chunk of 256"),
        ("tokens = 300", 'tokens = 300\nsource = ""', "corpus.source"),
    ],
)
def test_a_fault_is_named_with_its_place(old: str, new: str, where: str) -> None:
    assert old in GOOD
    with pytest.raises(PlanError) as caught:
        parse_plan(GOOD.replace(old, new, 1), "my.toml")
    assert caught.value.message.startswith("my.toml")
    assert where in caught.value.message
    assert caught.value.exit_code is ExitCode.USAGE
    assert "\n" not in caught.value.message


def test_a_whole_number_is_a_number_too() -> None:
    assert parse_plan(GOOD.replace("capacity_gib = 1", "capacity_gib = 8"), "my.toml").tiers[
        0
    ].capacity_gib == pytest.approx(8.0)


def test_own_documents_stand_beside_the_plan_that_names_them(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    for source, meant in (("docs", tmp_path / "docs"), ("~/docs", Path.home() / "docs"), ("/docs", "/docs")):
        path.write_text(GOOD.replace("tokens = 300", f'tokens = 300\nsource = "{source}"'))
        assert load_plan(path).corpus.source == str(meant)


def test_a_request_is_as_long_as_prefix_and_document() -> None:
    plan = parse_plan(GOOD.replace("tokens = 300", "tokens = 300\nprefix_tokens = 300"), "my.toml")
    assert plan.corpus.prompt_tokens == 600


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(GOOD.replace("= 2", "= 0").replace("capacity_gib = 1", "capacity_gib = 0"), "my.toml")
    assert "corpus.documents" in caught.value.message
    assert "tiers[1].capacity_gib" in caught.value.message
    assert "after validation" not in caught.value.message


def test_a_seed_can_be_left_out_on_purpose() -> None:
    plan = parse_plan(GOOD + '[hash]\nseed = "unset"\nseed_on = {gpu-b = "7"}', "my.toml")
    assert plan.hash.seed_for("gpu-a") is None
    assert plan.hash.seed_for("gpu-b") == "7"


def test_a_file_that_is_not_there_or_not_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is no plan"):
        load_plan(tmp_path / "none.toml")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PlanError, match="cannot be read"):
        load_plan(binary)


@pytest.mark.parametrize(
    "text", ["documents = " + "9" * 6000, "a = " + "[" * 5000], ids=["digits", "brackets"]
)
def test_toml_that_python_cannot_read_is_said(text: str) -> None:
    with pytest.raises(PlanError, match=r"my\.toml"):
        parse_plan(text, "my.toml")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(GOOD, encoding="utf-8-sig")
    assert load_plan(path).name == "good"


def test_the_record_of_a_plan_reads_back_equal() -> None:
    for name in ("lab", "seed"):
        plan = load_plan(PLANS / f"{name}.toml")
        assert Plan.model_validate_json(plan.model_dump_json()) == plan


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    with pytest.raises(PlanError):
        parse_plan(text, "any.toml")
