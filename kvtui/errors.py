"""What ends a command, and with which exit code."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    OK = 0
    RUN_FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    TIMEOUT = 4
    PREFLIGHT = 5
    INTERRUPTED = 130


class KvtuiError(Exception):
    """Something a person must know about, in words.

    Attributes:
        message: One sentence: what went wrong, and where.
        hint: What to do about it, or an empty string.
        exit_code: The exit code of a command that ends with this.
    """

    exit_code = ExitCode.RUN_FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class PlanError(KvtuiError):
    """The plan, or another file that a person wrote, is not usable."""

    exit_code = ExitCode.USAGE


class PreflightError(KvtuiError):
    """The run was stopped before its first measured request."""

    exit_code = ExitCode.PREFLIGHT


class RunFailed(KvtuiError):
    """The run could not be carried to its end."""


class StepTimeout(KvtuiError):
    """A step did not end in its time."""

    exit_code = ExitCode.TIMEOUT


class RecordError(KvtuiError):
    """A run's record is missing, locked or of another version."""

    exit_code = ExitCode.USAGE
