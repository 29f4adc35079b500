"""What a process must know and no file may hold: handed over once, on its standard input."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TextIO

from kvtui.errors import RecordError
from kvtui.plan import Plan


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """Secrets of a run.

    Attributes:
        environment: Environment variables, such as the one that holds the store's password.
        passphrases: Passphrases of SSH keys, by the key's path.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    passphrases: Mapping[str, str] = field(default_factory=dict)

    def to_text(self) -> str:
        """One line of JSON, for :func:`read_secrets`."""
        return json.dumps(asdict(self)) + "\n"

    def enter_environment(self) -> None:
        """Set the environment variables of this process."""
        os.environ.update(self.environment)


def secrets_of(plan: Plan, passphrases: Mapping[str, str]) -> Secrets:
    """What a run of the plan must know: its store's password, where it is set, and passphrases of keys."""
    name = plan.store.password_env if plan.store else None
    environment = {name: os.environ[name]} if name and name in os.environ else {}
    return Secrets(environment, passphrases)


def read_secrets(source: TextIO) -> Secrets:
    """Read what :meth:`Secrets.to_text` wrote, up to the end of ``source``.

    Raises:
        RecordError: It is something else.
    """
    try:
        data = json.loads(source.read())
        found = Secrets(**data)
        for part in (found.environment, found.passphrases):
            if not all(isinstance(value, str) for value in part.values()):
                raise TypeError
    except (ValueError, TypeError, AttributeError):
        # Whatever stands there may be secret: it is in no message.
        raise RecordError("The secrets on standard input are not what kvtui hands over.") from None
    return found
