"""Small files that the kernel shows of itself; on many machines some of them are missing."""

from __future__ import annotations

from typing import Optional


def read(path: str) -> Optional[str]:
    """The text of a file below /proc or /sys; None where there is none, or none for this user."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def number(path: str) -> Optional[int]:
    """A file's whole number of 0 or more; None for anything else."""
    text = (read(path) or "").strip()
    return int(text) if text.isdecimal() else None
