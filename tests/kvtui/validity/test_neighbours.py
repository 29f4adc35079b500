"""Other work beside a pass: found when planted, quiet without it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kvtui.findings import Level
from kvtui.plan import TierKind
from kvtui.samples import Pass
from kvtui.validity.neighbours import PassUse, neighbour_findings

MIB = 1024**2
QUIET = PassUse(
    where="disk · single · cached",
    node="gpu-a",
    kind=TierKind.DISK,
    step=Pass.CACHED,
    cores=2,
    others_cores=0.04,
    others_disk_bytes=2e6,
    disk_read_bytes=130 * MIB,
    engine_read_bytes=128 * MIB,
    nic_rx_bytes=1e6,
    store_rx_bytes=0.0,
)
NETWORK = replace(QUIET, kind=TierKind.VALKEY, nic_rx_bytes=130e6, store_rx_bytes=128e6)


def codes(*uses: PassUse) -> list[tuple[Level, str]]:
    return [(one.level, one.code) for one in neighbour_findings(uses)]


def test_a_quiet_machine_has_no_finding() -> None:
    assert codes(QUIET) == []
    assert codes(NETWORK) == []


def test_what_is_unknown_is_no_finding() -> None:
    for kind in TierKind:
        assert codes(PassUse("x", "gpu-a", kind, Pass.CACHED)) == []


def test_a_busy_process_is_named_with_its_share() -> None:
    (found,) = neighbour_findings([replace(QUIET, others_cores=0.93, others_cpu="stress-ng")])
    assert (found.level, found.code, found.where) == (Level.WARNING, "processor-shared", QUIET.where)
    assert "kept 0.9 of gpu-a's 2 cores busy, most of it by stress-ng; " in found.text
    assert "in 1 of 1 passes" in found.text


def test_many_passes_beside_other_work_are_one_finding_a_node() -> None:
    passes = [
        replace(QUIET, where=f"disk · single · {n}", others_cores=cores)
        for n, cores in enumerate((0.01, 0.4, 1.2))
    ]
    elsewhere = replace(QUIET, node="gpu-b", where="disk · fleet · cached", others_cores=0.5)
    found = list(neighbour_findings([*passes, elsewhere]))
    assert [one.where for one in found] == ["disk · single · 2", "disk · fleet · cached"]
    assert "kept 1.2 of gpu-a's" in found[0].text
    assert "in 2 of 3 passes" in found[0].text


def test_on_many_cores_the_same_process_is_worth_telling_and_no_alarm() -> None:
    big = replace(QUIET, cores=128)
    assert codes(replace(big, others_cores=1.0)) == [(Level.INFO, "processor-shared")]
    assert codes(replace(big, others_cores=14.0)) == [(Level.WARNING, "processor-shared")]
    assert codes(replace(big, others_cores=0.3)) == []


def test_another_reader_of_the_disk_is_found_by_its_own_count_or_by_the_disks() -> None:
    (found,) = neighbour_findings([replace(QUIET, others_disk_bytes=2e9, others_disk="dd")])
    assert (found.level, found.code) == (Level.WARNING, "disk-shared")
    assert "dd moved 2.00 GB" in found.text
    by_disk = replace(QUIET, others_disk_bytes=None, disk_read_bytes=2128 * MIB)
    assert codes(by_disk) == [(Level.WARNING, "disk-shared")]


def test_a_disk_that_the_tier_does_not_use_is_nobodys_trouble() -> None:
    assert codes(replace(QUIET, kind=TierKind.DRAM, others_disk_bytes=2e9)) == []


def test_bytes_beside_those_of_the_store_are_found() -> None:
    (found,) = neighbour_findings([replace(NETWORK, nic_rx_bytes=190e6)])
    assert (found.level, found.code) == (Level.WARNING, "network-shared")
    assert "0.06 GB beside the 0.13 GB" in found.text


@given(st.integers(1, 3), st.floats(1e6, 1e12), st.floats(0.0, 0.05))
def test_a_bond_that_counts_the_stores_bytes_again_is_no_neighbour(
    counts: int, own: float, more: float
) -> None:
    assert codes(replace(NETWORK, store_rx_bytes=own, nic_rx_bytes=own * (counts + more))) == []
