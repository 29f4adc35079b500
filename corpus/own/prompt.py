"""A prompt as a file of some format gives it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """One text out of a file.

    Attributes:
        source: The file's name, with ``:line`` or ``:number`` where it holds several.
        name: The name that the file gives it, or an empty string.
        text: The text as it stands in the file.
    """

    source: str
    name: str
    text: str
