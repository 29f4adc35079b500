"""What a run must measure of its nodes, and what it knows already."""

from __future__ import annotations

from dataclasses import replace

from kvtui.campaign.ceiling_measuring import Kind, Measuring
from kvtui.campaign.ceilings import MAX_AGE_S, fitting, missing
from kvtui.ceilings import Ceiling

NOW = 1_000_000.0
MEASURING = Measuring(chunk_bytes=2**21, directory="/mnt/kv", store_address="10.0.0.9", store_port=6379)
KINDS: tuple[Kind, ...] = ("memory", "disk", "network")


def ceiling(what: str, target: str, how: str = "direct, 4 threads") -> Ceiling:
    """One that was measured a minute ago."""
    return Ceiling(
        node="gpu-a",
        what=what,  # type: ignore[arg-type]
        how=how,
        bytes_s=1e9,
        low_bytes_s=0.9e9,
        high_bytes_s=1.1e9,
        repeats=3,
        chunk_bytes=2**21,
        threads=4,
        tool="kvtui",
        target=target,
        measured_wall_s=NOW - 60,
    )


ALL = (ceiling("memory", ""), ceiling("disk-read", "/mnt/kv"), ceiling("network", "10.0.0.9:6379"))


def test_what_is_known_and_fresh_is_not_measured_again() -> None:
    assert missing(ALL, "gpu-a", MEASURING, KINDS, NOW) == ()


def test_what_was_never_measured_on_this_node_is_missing() -> None:
    assert missing(ALL, "gpu-b", MEASURING, KINDS, NOW) == KINDS
    assert missing((), "gpu-a", MEASURING, ("disk",), NOW) == ("disk",)


def test_old_figures_other_places_and_other_sizes_do_not_count() -> None:
    assert missing(ALL, "gpu-a", MEASURING, KINDS, NOW + MAX_AGE_S) == KINDS
    assert missing(ALL, "gpu-a", replace(MEASURING, directory="/data"), KINDS, NOW) == ("disk",)
    assert missing(ALL, "gpu-a", replace(MEASURING, store_port=1), KINDS, NOW) == ("network",)
    assert missing(ALL, "gpu-a", replace(MEASURING, chunk_bytes=1), KINDS, NOW) == KINDS


def test_of_each_way_the_latest_is_recorded() -> None:
    newer = replace(ALL[1], bytes_s=2e9, measured_wall_s=NOW)
    other = ceiling("disk-read", "/mnt/kv", "buffered, 16 threads")
    elsewhere = replace(ALL[1], target="/other")
    assert set(fitting((newer, *ALL, other, elsewhere), "gpu-a", MEASURING)) == {ALL[0], newer, ALL[2], other}
