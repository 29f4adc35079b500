"""A model's ``config.json``: read, and asked for fields that must be right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvtui.errors import PlanError

# llama.cpp's file format starts with these bytes; it holds no config.json.
_GGUF_MAGIC = b"GGUF"
_GGUF_REMEDY = "Give the config.json of the model that it was made from."


def load_config(path: Path) -> dict[str, Any]:
    """Read a ``config.json``.

    Raises:
        PlanError: It cannot be read, is a GGUF, or is not a JSON object.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_GGUF_MAGIC))
            if start == _GGUF_MAGIC:  # some gigabytes follow
                raise PlanError(f"{path} is a GGUF, which holds no config.json.", _GGUF_REMEDY)
            config = json.loads(start + file.read())
    except FileNotFoundError as error:
        raise PlanError(f"There is no file {path}.", "Give the path of a model's config.json.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise PlanError(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(config, dict):
        raise PlanError(f"{path} holds no JSON object.", "Give the path of a model's config.json.")
    return config


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a config, or of a part of it, under the name that a message gives them.

    Attributes:
        source: Name of the file.
        values: The fields.
        part: Name of the part with a dot at its end, or empty.
    """

    source: str
    values: Mapping[str, Any]
    part: str = ""

    def inner(self, name: str) -> Fields:
        """The fields of a nested object.

        Raises:
            PlanError: There is no such object.
        """
        values = self.values.get(name)
        if not isinstance(values, dict):
            raise PlanError(f"{self.source}: {self.part}{name} is missing, where the language model stands.")
        return Fields(self.source, values, f"{self.part}{name}.")

    def has(self, name: str) -> bool:
        """Whether the field says anything; ``null`` says nothing."""
        return self.values.get(name) is not None

    def whole(self, name: str) -> int:
        """A whole number above 0.

        Raises:
            PlanError: The field is missing or is something else.
        """
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            said = "missing" if value is None else repr(value)
            raise PlanError(
                f"{self.source}: {self.part}{name} is {said}, where a whole number above 0 is needed.",
                "Take the config.json of the model's own folder, whole.",
            )
        return value
