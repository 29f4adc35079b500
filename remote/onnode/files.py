"""Files on the node: read from a byte offset, count, remove."""

from __future__ import annotations

import base64
import os
import shutil
import stat
from typing import Any, Dict, Iterator, Tuple

from . import places
from .failure import Failure


def tail(args: Dict[str, Any]) -> Dict[str, Any]:
    """At most ``max_bytes`` of ``path`` from ``offset`` on; a file that is not there yet is empty."""
    offset, limit = int(args["offset"]), int(args["max_bytes"])
    try:
        with open(places.absolute(args["path"]), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(offset)
            data = file.read(limit)
    except FileNotFoundError:
        size, data = 0, b""
    return {
        "offset": offset,
        "size": size,
        "data_b64": base64.b64encode(data).decode("ascii"),
        "next": offset + len(data),
    }


def count(args: Dict[str, Any]) -> Dict[str, Any]:
    """How many files of ``dir`` have ``contains`` in their name, and their bytes."""
    sizes = [size for _, size in own_files(args)]
    return {"count": len(sizes), "bytes": sum(sizes)}


def remove(args: Dict[str, Any]) -> Dict[str, Any]:
    """Remove the files of ``dir`` that have ``contains`` in their name."""
    removed = freed = 0
    for path, size in own_files(args):
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        removed += 1
        freed += size
    return {"removed": removed, "bytes": freed}


def remove_tree(args: Dict[str, Any]) -> Dict[str, Any]:
    """Remove a directory below kvtui's own, with everything in it; one that is not there is fine.

    Raises:
        Failure: ``outside``, for a directory anywhere else, also by way of a link or of ``..``.
    """
    path = places.absolute(args["dir"])
    root = os.path.realpath(places.state_root())
    parent = os.path.realpath(os.path.dirname(path))
    real = os.path.join(parent, os.path.basename(path))
    if os.path.commonpath([root, real]) != root or real == root:
        raise Failure("outside", "%s is not below %s." % (path, root))
    if os.path.islink(real):
        os.unlink(real)
    elif os.path.isdir(real):
        shutil.rmtree(real)
    return {"removed": not os.path.lexists(real)}


def own_files(args: Dict[str, Any]) -> Iterator[Tuple[str, int]]:
    """Path and size of the regular files directly in ``dir`` that have ``contains`` in their name.

    Raises:
        Failure: ``bad-request``, when ``contains`` is empty: that would be somebody else's files too.
    """
    directory, part = places.absolute(args["dir"]), args["contains"]
    if not part:
        raise Failure("bad-request", "The part of the name must not be empty.")
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return
    for name in names:
        if part in name:
            path = os.path.join(directory, name)
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                continue
            if stat.S_ISREG(found.st_mode):
                yield path, found.st_size
