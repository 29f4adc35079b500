"""Turn a finished lab run into the recording that comes with kvtui: ``python -m bench.make_recording RUN``.

What belongs to the machine is replaced: paths, users, names (``bench.redact``).
"""

from __future__ import annotations

import argparse
import getpass
import socket
from pathlib import Path

from bench.record_check import problems
from bench.redact import redact
from kvtui.paths import places
from kvtui.record import find
from kvtui.recordings import RECORDED


def main() -> None:
    """Write the recording, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", nargs="?", help="id of the run, the latest without one")
    parser.add_argument("--to", type=Path, default=RECORDED)
    options = parser.parse_args()
    record = find(places().runs, options.run, unfinished=False)
    found = problems(record)
    if found:
        raise SystemExit(f"Run {record.run} is no whole run: {'; '.join(found)}.")
    names = {
        str(places().lab.parent): "~/.local/share/kvtui",
        f"{getpass.getuser()}@{socket.gethostname()}": "user@operator",
        socket.gethostname(): "operator",
    }
    options.to.mkdir(parents=True, exist_ok=True)
    for path in (record.plan_file, record.events):
        text = redact(path.read_text(encoding="utf-8"), names)
        (options.to / path.name).write_text(text, encoding="utf-8")
    print(f"Run {record.run} is recorded in {options.to}.")


if __name__ == "__main__":
    main()
