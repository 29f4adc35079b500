"""A host's counters from the text of /proc, and nothing where there is no such text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from remote.onnode import counters

STAT = """cpu  100 0 50 800 40 5 5 0 0 0
cpu0 50 0 25 400 20 2 3 0 0 0
cpu1 50 0 25 400 20 3 2 0 0 0
intr 12345 0 0
"""
LATER = STAT.replace("cpu  100 0 50 800 40", "cpu  160 0 80 900 50")
MEMINFO = """MemTotal:       24683656 kB
MemFree:         1000000 kB
MemAvailable:   20000000 kB
SwapTotal:       4000000 kB
SwapFree:        3000000 kB
HugePages_Total:       0
"""
NET = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 500 5 0 0 0 0 0 0 500 5 0 0 0 0 0 0
  eth0:1000 9 0 0 0 0 0 0 2000 9 0 0 0 0 0 0
 dummy:   0 0 0 0 0 0 0 0    0 0 0 0 0 0 0 0
"""  # noqa: E501 - as the kernel prints it
DISKS = """ 259       0 nvme0n1 10 0 2000 5 20 0 4000 6 0 7 8 0 0 0 0 0 0
 259       1 nvme0n1p1 10 0 1999 5 20 0 3999 6 0 7 8
 253       0 dm-0 10 0 1998 5 20 0 3998 6 0 7 8
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0
"""


def block(tmp_path: Path) -> str:
    """Whole devices as sysfs lists them: one disk, and a volume on top of it."""
    for name in ("nvme0n1", "dm-0", "loop0"):
        (tmp_path / name / "slaves").mkdir(parents=True)
    (tmp_path / "dm-0" / "slaves" / "nvme0n1").touch()
    return str(tmp_path)


def test_busy_share_of_all_cores() -> None:
    before, now = counters.cpu_time(STAT), counters.cpu_time(LATER)
    assert before == counters.CpuTime(busy=160, total=1000, cores=2)
    # 90 of 200 ticks: waiting for a disk is not busy.
    assert counters.cpu_percent(before, now) == 45.0
    assert counters.cpu_percent(None, now) is None
    assert counters.cpu_percent(now, before) is None
    assert counters.cpu_time(None) is None


def test_memory_and_swap() -> None:
    assert counters.memory(MEMINFO) == {
        "ram_total_bytes": 24683656 * 1024,
        "ram_available_bytes": 20000000 * 1024,
        "swap_used_bytes": 1000000 * 1024,
    }
    assert set(counters.memory(None).values()) == {None}


def test_interfaces_that_carry_something() -> None:
    assert counters.nics(NET) == {
        "eth0": {"rx_bytes": 1000, "tx_bytes": 2000},
        "lo": {"rx_bytes": 500, "tx_bytes": 500},
    }
    assert counters.nics(None) is None


def test_each_byte_of_a_disk_is_counted_in_one_device(tmp_path: Path) -> None:
    found = counters.disks(DISKS, block(tmp_path))
    assert found == {"nvme0n1": {"read_bytes": 2000 * 512, "write_bytes": 4000 * 512}}
    unknown = counters.disks(DISKS, str(tmp_path / "no-sysfs"))
    assert unknown is not None
    assert set(unknown) == {"nvme0n1", "nvme0n1p1", "dm-0"}
    assert counters.disks(None) is None


def test_a_host_of_containers_names_only_its_busiest_interfaces() -> None:
    text = "".join(f"veth{n}: {n} 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n" for n in range(1, 1000))
    found = counters.nics(text)
    assert found is not None
    assert len(found) == counters.MOST_DEVICES
    assert "veth999" in found


@given(st.one_of(st.text(max_size=300), st.text(st.sampled_from("cpu 0129²٣:.\n"), max_size=80)))
def test_no_text_raises(text: str) -> None:
    answers: list[Any] = [counters.cpu_time(text), counters.memory(text), counters.nics(text)]
    answers.append(counters.disks(text, "/nowhere"))
    assert len(answers) == 4
