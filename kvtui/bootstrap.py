"""From a clone to a run: checks the machine, makes the virtual environment, hands over to kvtui.

Runs under whatever ``python3`` a machine has, with nothing installed, and from a file: standard library only,
syntax of Python 3.6, no import from the package.
"""

import argparse
import ctypes
import glob
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from typing import Callable, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, "kvtui-stamp")
OLDEST, NEWEST = (3, 11), (3, 13)
GIB = 1024**3
# Two engines of about 3 GB each, their build peaks, the store and the documents.
MEMORY_GIB = 12
PREFLIGHT = 5  # kvtui.errors.ExitCode.PREFLIGHT
# The engine environment takes 2.6 GB when done and about as much again while it is installed.
DISK_GIB = 6
ASK = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def say(text: str) -> None:
    """Tell the person."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def version_of(python: str) -> Optional[Tuple[int, int]]:
    """Version of an interpreter that can make virtual environments; None for one that cannot."""
    try:
        answer = subprocess.run(
            [python, "-I", "-c", ASK],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        major, minor = answer.stdout.decode().strip().split(".")
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def candidates() -> List[str]:
    """Interpreters of this machine, the likeliest first."""
    names = ["python3.%d" % minor for minor in range(OLDEST[1], NEWEST[1] + 1)] + ["python3", "python"]
    found = [sys.executable] + [shutil.which(name) for name in names]
    for pattern in ("~/.pyenv/versions/3.1[123]*/bin/python", "~/.local/share/uv/python/*/bin/python3"):
        found += sorted(glob.glob(os.path.expanduser(pattern)))
    found += sorted(
        glob.glob("/usr/local/bin/python3.1[123]") + glob.glob("/opt/homebrew/bin/python3.1[123]")
    )
    return [path for path in dict.fromkeys(found) if path]


def find_python(
    paths: List[str], version: Callable[[str], Optional[Tuple[int, int]]] = version_of
) -> Optional[str]:
    """The first interpreter of a version that kvtui and LMCache run on, or None."""
    for path in paths:
        found = version(path)
        if found is not None and OLDEST <= found <= NEWEST:
            return path
    return None


def has_library(name: str) -> bool:
    """Whether a shared library can be loaded."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def cpu_flags(path: str = "/proc/cpuinfo") -> List[str]:
    """Features of the processor; empty where the system does not say."""
    try:
        with open(path) as file:
            return next((line.split() for line in file if line.startswith("flags")), [])
    except OSError:
        return []


def available_gib(path: str = "/proc/meminfo") -> Optional[float]:
    """Memory that is free for use, in GiB; None where the system does not say."""
    try:
        with open(path) as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024 / GIB
    except OSError:
        pass
    return None


def free_gib(path: str) -> float:
    """Free disk space at a path that need not exist yet, in GiB."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return shutil.disk_usage(path).free / GIB


def engine_dir() -> str:
    """Where kvtui keeps the lab's engine environment (kvtui.paths, without its libraries)."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, "kvtui", "engine-cpu")


def platform_faults(system: str, machine: str, flags: List[str]) -> List[str]:
    """Why no engine will ever run on this machine."""
    faults = []
    if system != "Linux":
        return [
            "The lab's engines run on Linux only, and this is %s: use a Linux machine for a real run."
            % system
        ]
    if machine not in ("x86_64", "AMD64"):
        faults.append("The lab's engines need an x86-64 processor, and this is %s." % machine)
    elif "avx2" not in flags:
        faults.append("The lab's engines need a processor with AVX2.")
    return faults


def mendable_faults(numa: bool, memory_gib: Optional[float], disk_gib: float) -> List[str]:
    """Why no engine can run here as things are: one sentence with its remedy for each reason, all at once."""
    faults = []
    if not numa:
        faults.append("libnuma.so.1 is missing: apt-get install libnuma1 (or your system's numactl package).")
    if memory_gib is not None and memory_gib < MEMORY_GIB:
        faults.append(
            "Two engines need %d GiB of free memory, and %.1f are free: end what takes the rest."
            % (MEMORY_GIB, memory_gib)
        )
    if disk_gib < DISK_GIB:
        faults.append(
            "The engine environment needs %d GiB of disk in %s, and %.1f are free."
            % (DISK_GIB, os.path.dirname(engine_dir()), disk_gib)
        )
    return faults


def check_mendable() -> List[str]:
    """What somebody must mend on this machine before an engine can run."""
    # An environment that is there already needs no more room for itself.
    disk_gib = DISK_GIB if os.path.exists(engine_dir()) else free_gib(engine_dir())
    return mendable_faults(has_library("libnuma.so.1"), available_gib(), disk_gib)


def stamp_of(extra: str) -> str:
    """What an installation was made from."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return "%s %s %s\n" % (digest, extra or "-", ROOT)


def install(python: str, extra: str) -> None:
    """Make the virtual environment and install kvtui in it; nothing to do when it is there already."""
    wanted = stamp_of(extra)
    try:
        with open(STAMP) as file:
            if file.read() == wanted:
                return
    except OSError:
        pass
    say("Installing kvtui into .venv with %s (a minute or two the first time)" % python)
    if version_of(os.path.join(VENV, "bin", "python")) is None:
        subprocess.run([python, "-m", "venv", "--clear", VENV], check=True)
    what = ROOT + ("[%s]" % extra if extra else "")
    pip = [os.path.join(VENV, "bin", "python"), "-m", "pip", "install", "--quiet", "--editable", what]
    subprocess.run(pip + ["--disable-pip-version-check"], check=True, stdout=2)
    with open(STAMP, "w") as file:
        file.write(wanted)


def main(arguments: List[str]) -> int:
    """Check, install, hand over; the exit code."""
    parser = argparse.ArgumentParser(prog="bootstrap", description="Install kvtui here, and run it.")
    parser.add_argument("--dev", action="store_true", help="with what tests and checks need")
    parser.add_argument("--engine", action="store_true", help="the engine environment too")
    parser.add_argument("--run", action="store_true", help="run the default plan")
    options = parser.parse_args(arguments)
    python = find_python(candidates())
    wants_engine = options.run or options.engine
    never = platform_faults(platform.system(), platform.machine(), cpu_flags()) if wants_engine else []
    mendable = check_mendable() if wants_engine and not never else []
    if python is None:
        mendable.insert(
            0,
            "Python 3.11, 3.12 or 3.13 with its venv module is missing: "
            "install one (Debian and Ubuntu: apt-get install python3 python3-venv).",
        )
    for fault in never + mendable:
        say(fault)
    if python is None or (mendable and options.run):
        return PREFLIGHT
    try:
        install(python, "dev" if options.dev else "")
    except subprocess.CalledProcessError as error:
        say("kvtui could not be installed: the command above ended with %d." % error.returncode)
        return 1
    kvtui = [os.path.join(VENV, "bin", "python"), "-m", "kvtui"]
    if never and options.run:
        say("This machine cannot run the engines, so here is a recorded run.")
        return subprocess.call(kvtui + ["replay"])
    if options.engine and not never and not mendable:
        return subprocess.call(kvtui + ["lab", "install"])
    return subprocess.call(kvtui + ["launch"]) if options.run else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        say("Interrupted.")
        sys.exit(130)
