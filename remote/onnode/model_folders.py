"""Folders that hold a model: a ``config.json`` that names an architecture, and what stands in it."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

MOST_FOLDERS = 100
MOST_VISITED = 5000
DEEPEST = 4
MOST_BYTES = 1 << 18
CONFIG = "config.json"


def found(roots: List[str]) -> List[Dict[str, Any]]:
    """Models below some folders and in the hub's cache: folder, name, and the config or why there is none."""
    result: Dict[str, Dict[str, Any]] = {}
    for path, name in [*_hub(), *((path, os.path.basename(path)) for root in roots for path in _below(root))]:
        if len(result) >= MOST_FOLDERS:
            break
        if path not in result:
            config, problem = _config(os.path.join(path, CONFIG))
            if config is None or "architectures" in config or "model_type" in config:
                result[path] = {"path": path, "name": name, "config": config, "problem": problem}
    return list(result.values())


def hub_cache() -> str:
    """Where the hub's client keeps models (huggingface_hub ``constants.py``)."""
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "huggingface"
    )
    return os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")


def _hub() -> Iterator[Tuple[str, str]]:
    """Snapshots in the hub's cache, with the ids that they were asked for by."""
    root = hub_cache()
    for folder in _names(root):
        if not folder.startswith("models--"):
            continue
        snapshots = os.path.join(root, folder, "snapshots")
        for revision in _names(snapshots):
            path = os.path.join(snapshots, revision)
            if os.path.isfile(os.path.join(path, CONFIG)):
                yield path, folder[len("models--") :].replace("--", "/")


def _below(root: str) -> Iterator[str]:
    """Folders with a config, from the top down; what lies inside one belongs to it."""
    waiting = [(root, 0)]
    visited = 0
    while waiting and visited < MOST_VISITED:
        path, depth = waiting.pop(0)
        visited += 1
        names = _names(path)
        if CONFIG in names:
            yield path
        elif depth < DEEPEST:
            inner = (os.path.join(path, name) for name in names if not name.startswith("."))
            waiting.extend((folder, depth + 1) for folder in inner if _is_own_dir(folder))


def _is_own_dir(path: str) -> bool:
    # Links may lead in circles.
    return os.path.isdir(path) and not os.path.islink(path)


def _names(path: str) -> List[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _config(path: str) -> Tuple[Optional[Dict[str, Any]], str]:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return None, "%s cannot be read: %s" % (path, error.strerror)
    if len(data) > MOST_BYTES:
        return None, "%s has more than %d bytes" % (path, MOST_BYTES)
    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None, "%s is not JSON" % path
    if not isinstance(value, dict):
        return None, "%s holds no JSON object" % path
    return value, ""
