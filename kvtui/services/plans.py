"""The plans that a person keeps: TOML files, each written whole or not at all."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from kvtui.errors import PlanError
from kvtui.plan import NAME, Plan, load_plan
from kvtui.plan_toml import to_toml


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all; a link to a file elsewhere stays a link.

    Raises:
        PlanError: It cannot be written.
    """
    path = path.resolve()
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise PlanError(f"{path} cannot be written: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class PlanStore:
    """The plans of the app, by their file's name.

    Attributes:
        directory: Where they are.
    """

    directory: Path

    def names(self) -> tuple[str, ...]:
        """Names of the plans there, sorted; a file need not hold a valid plan."""
        return tuple(sorted(path.stem for path in self.directory.glob("*.toml") if _is_name(path.stem)))

    def path(self, name: str) -> Path:
        """File of a plan.

        Raises:
            PlanError: The name is none for a plan.
        """
        if not _is_name(name):
            raise PlanError(
                f"{name!r} is no name for a plan.", "Use small letters, digits and single dashes."
            )
        return self.directory / f"{name}.toml"

    def load(self, name: str) -> Plan:
        """A plan.

        Raises:
            PlanError: There is none of that name, or it is not valid.
        """
        return load_plan(self.path(name))

    def save(self, plan: Plan) -> Path:
        """Write a plan under its own name; one that is there is replaced.

        Raises:
            PlanError: It cannot be written.
        """
        path = self.path(plan.name)
        write_whole(path, to_toml(plan))
        return path


def _is_name(name: str) -> bool:
    return len(name) <= 40 and re.fullmatch(NAME, name) is not None
