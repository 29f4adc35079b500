"""Who uses this node: one run at a time."""

from __future__ import annotations

import os
import time
from typing import Any, Dict

from . import places
from .failure import Failure
from .stopping import marked


def lock(args: Dict[str, Any]) -> Dict[str, Any]:
    """Claim the node for ``run``, or renew the claim.

    A claim that has run out is taken over, unless a process of its run is still alive.

    Raises:
        Failure: ``locked``, with ``run``, ``owner``, ``since_wall_s`` and ``alive`` of the run that holds it.
    """
    run, now = args["run"], time.time()
    places.make_dir(places.state_root())
    with places.locked(_path("lock.flock")):
        held = places.read_json(_path("lock.json"))
        if held is not None and held["run"] != run:
            alive = bool(marked(held["run"]))
            if alive or now < held["renewed_wall_s"] + held["lease_s"]:
                raise Failure(
                    "locked",
                    "The run %s of %s uses this node." % (held["run"], held["owner"]),
                    run=held["run"],
                    owner=held["owner"],
                    since_wall_s=held["since_wall_s"],
                    alive=alive,
                )
            held = None
        claim = {
            "run": run,
            "owner": args["owner"],
            "lease_s": float(args["lease_s"]),
            "since_wall_s": held["since_wall_s"] if held else now,
            "renewed_wall_s": now,
        }
        places.write_json(_path("lock.json"), claim)
    return {"run": run, "owner": claim["owner"], "since_wall_s": claim["since_wall_s"]}


def held(args: Dict[str, Any]) -> Dict[str, Any]:
    """Who holds the node: ``run`` and ``owner``, or null for both; takes nothing and changes nothing."""
    claim = places.read_json(_path("lock.json"))
    if claim is not None:
        fresh = time.time() < claim["renewed_wall_s"] + claim["lease_s"]
        if fresh or marked(claim["run"]):
            return {"run": claim["run"], "owner": claim["owner"]}
    return {"run": None, "owner": None}


def unlock(args: Dict[str, Any]) -> Dict[str, Any]:
    """Give up the claim of ``run``; a claim of another run stays."""
    if not os.path.isdir(places.state_root()):
        return {"unlocked": False}
    with places.locked(_path("lock.flock")):
        held = places.read_json(_path("lock.json"))
        own = held is not None and held["run"] == args["run"]
        if own:
            places.remove_file(_path("lock.json"))
    return {"unlocked": own}


def _path(name: str) -> str:
    return os.path.join(places.state_root(), name)
