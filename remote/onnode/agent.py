"""The node's side of every question: one command, one JSON object in, one JSON object out.

An answer is ``{"ok": true, ...}`` or ``{"ok": false, "error": code, "message": sentence, ...}``; both are an
exit status of 0. Every command may be repeated: the operator's side does so whenever a link was lost.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any, Dict, List

from .failure import Failure

# command -> module and function, imported only when asked for: most commands need one module.
COMMANDS = {
    "facts": ("facts", "facts"),
    "engine-facts": ("engine_facts", "engine_facts"),
    "ceiling-disk": ("ceiling_disk", "measure"),
    "ceiling-network": ("ceiling_net", "measure"),
    "ceiling-line": ("iperf", "measure"),
    "iperf3": ("iperf", "find"),
    "ceiling-memory": ("ceiling_memory", "measure"),
    "spawn": ("spawning", "spawn"),
    "status": ("spawning", "status"),
    "renew": ("spawning", "renew"),
    "stop": ("stopping", "stop"),
    "stop-marker": ("stopping", "stop_marker"),
    "free-ports": ("ports", "free_ports"),
    "http": ("web", "http"),
    "store-value": ("store_value", "there_and_back"),
    "environ": ("inspecting", "environ"),
    "tail": ("files", "tail"),
    "files": ("files", "count"),
    "remove-files": ("files", "remove"),
    "remove-tree": ("files", "remove_tree"),
    "make-cold": ("cold", "make_cold"),
    "held": ("claims", "held"),
    "lock": ("claims", "lock"),
    "unlock": ("claims", "unlock"),
}
# Programs that answer otherwise; their arguments stand on the command line.
PROGRAMS = {
    "clock": "clock",
    "follow": "follow",
    "glide": "glide",
    "keeper": "keeper",
    "probe": "probe",
    "watch": "watcher",
}


def main(arguments: List[str]) -> int:
    """Run a command (answer on standard output) or one of the programs."""
    name = arguments[0] if arguments else ""
    if name in PROGRAMS:
        program = importlib.import_module("." + PROGRAMS[name], __package__)
        return int(program.main(arguments[1:]))
    sys.stdout.write(json.dumps(answer(name, sys.stdin.read())) + "\n")
    sys.stdout.flush()
    return 0


def answer(name: str, request: str) -> Dict[str, Any]:
    """The answer to a command whose arguments are the JSON object ``request``."""
    try:
        result = _run(name, request)
    except Failure as failure:
        return {**failure.details, "ok": False, "error": failure.code, "message": failure.message}
    except KeyError as error:
        return _refusal("bad-request", "%s needs %s." % (name, error))
    except OSError as error:
        place = " (%s)" % error.filename if error.filename else ""
        return _refusal("system", "%s failed: %s%s." % (name, error.strerror or error, place))
    result["ok"] = True
    return result


def _run(name: str, request: str) -> Dict[str, Any]:
    if name not in COMMANDS:
        raise Failure("bad-request", "There is no command %r." % name)
    try:
        args = json.loads(request or "{}")
    except ValueError as error:
        raise Failure("bad-request", "The arguments of %s are not JSON: %s." % (name, error)) from None
    module_name, function = COMMANDS[name]
    module = importlib.import_module("." + module_name, __package__)
    result: Dict[str, Any] = getattr(module, function)(args)
    return result


def _refusal(code: str, message: str) -> Dict[str, Any]:
    return {"ok": False, "error": code, "message": message}
