"""The hosts that a person's OpenSSH configuration names."""

from __future__ import annotations

import glob
import shlex
from pathlib import Path

_WILD = frozenset("*?!")
_DEEPEST = 16  # as OpenSSH: an Include may not nest further


def ssh_aliases() -> tuple[str, ...]:
    """Every host that ``~/.ssh/config`` and what it includes name without wildcards, in their order."""
    found: dict[str, None] = {}
    _read(Path("~/.ssh/config").expanduser(), found, 0)
    return tuple(found)


def _read(path: Path, found: dict[str, None], depth: int) -> None:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in text.splitlines():
        keyword, values = _directive(line)
        if keyword == "host":
            found.update(dict.fromkeys(value for value in values if not _WILD & set(value)))
        elif keyword == "include" and depth < _DEEPEST:
            for value in values:
                # A relative name is one below ~/.ssh.
                pattern = Path("~/.ssh").expanduser() / Path(value).expanduser()
                for name in sorted(glob.glob(str(pattern))):
                    _read(Path(name), found, depth + 1)


def _directive(line: str) -> tuple[str, list[str]]:
    """The keyword in lower case and its values; ``Host=a`` is ``Host a``."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return "", []
    if not words:
        return "", []
    keyword, equals, rest = words[0].partition("=")
    values = ([rest] if rest else []) + words[1:]
    if not equals and values and values[0].startswith("="):
        values[0] = values[0][1:]
    return keyword.lower(), [value for value in values if value]
