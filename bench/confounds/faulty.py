"""kvtui with a fault of its own: ``python -m bench.confounds.faulty FAULT kvtui launch PLAN --json``.

Some confounds are mistakes of whoever measures. kvtui does not make them, so they are put into it.
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from bench.confounds.stage import CLOCK_FILE
from kvtui import cli
from kvtui.campaign import block_steps, layout
from kvtui.campaign.documents import RunDocuments, make_documents
from remote import link
from remote.node_package import NodePackage, node_package

CLOCK_STEP_S = 30.0
_CLOCK = f"""\
import os, time
_told = time.time
def _stepped():
    step = os.path.exists(os.path.expanduser("~/{CLOCK_FILE}"))
    return _told() + ({CLOCK_STEP_S} if step else 0.0)
time.time = _stepped
"""

Change = Callable[[RunDocuments], RunDocuments]


def _replace(module: ModuleType, name: str, by: object) -> None:
    setattr(module, name, by)


def _documents(change: Change) -> None:
    """Change the documents of a run once they are made."""

    async def changed(*arguments: Any, **named: Any) -> RunDocuments:
        return change(await make_documents(*arguments, **named))

    _replace(block_steps, "make_documents", changed)


def warm_up_overlaps() -> None:
    """Warm up with two of the documents that are measured, and let their KV stay."""
    tag = layout.tag

    def shared_tag(run: str, block: str, attempt: int, purpose: str = "") -> str:
        return tag(run, block, attempt, "" if purpose.startswith("warmup") else purpose)

    _replace(layout, "tag", shared_tag)
    _documents(lambda made: replace(made, warmup=made.corpus[: len(made.warmup)]))


def document_twice() -> None:
    """Send the first document again as the last one."""

    def change(made: RunDocuments) -> RunDocuments:
        first, last = made.corpus[0], made.corpus[-1]
        return replace(made, corpus=(*made.corpus[:-1], replace(first, document_id=last.document_id)))

    _documents(change)


def stepping_package() -> NodePackage:
    """What is uploaded to the nodes, with a clock that steps once a file is there."""
    package = node_package()
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package.data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            new.writestr(name, _CLOCK.encode() + text if name == "__main__.py" else text)
    return NodePackage.of(buffer.getvalue())


def clock_steps() -> None:
    """Have what runs on the nodes read a clock that steps."""
    stepping = stepping_package()
    _replace(link, "node_package", lambda: stepping)


FAULTS = {"warm-up-overlaps": warm_up_overlaps, "document-twice": document_twice, "clock-steps": clock_steps}


if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    sys.argv = sys.argv[2:]
    cli.main()
