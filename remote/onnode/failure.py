"""How a node-side command says that it could not do what was asked."""

from __future__ import annotations

from typing import Any


class Failure(Exception):
    """An error for the operator's side: a code to act on, a sentence to read, and details."""

    def __init__(self, code: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
