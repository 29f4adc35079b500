"""Token ids by a served model's own tokenizer, over HTTP (``/tokenize`` and ``/detokenize`` of vLLM 0.28)."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from urllib.parse import urlsplit

from kvtui.errors import ExitCode, KvtuiError, PlanError

TIMEOUT_S = 120


class TokenizerError(KvtuiError):
    """The engine did not tokenize."""


class EngineUnreachable(TokenizerError):
    """Nothing answers at the engine's address."""

    exit_code = ExitCode.UNREACHABLE


@dataclass(frozen=True, slots=True)
class EngineTokenizer:
    """A running engine, by its address such as ``http://127.0.0.1:8000``."""

    url: str

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            PlanError: It is none.
        """
        try:
            parts = urlsplit(self.url)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if not good or not self.url.isprintable() or " " in self.url:
            raise PlanError(
                f"{self.url!r} is no address of an engine.", "Write it like http://127.0.0.1:8000."
            )

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without any token that the engine would add of its own."""
        return [
            int(item)
            for item in self._ask("/tokenize", {"prompt": text, "add_special_tokens": False}, "tokens")
        ]

    def decode(self, ids: list[int] | tuple[int, ...]) -> str:
        """The text that ids stand for."""
        return str(self._ask("/detokenize", {"tokens": list(ids)}, "prompt"))

    def _ask(self, path: str, body: dict[str, object], field: str) -> list[int] | str:
        request = urllib.request.Request(  # noqa: S310  the scheme is checked before
            self.url.rstrip("/") + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
                found = json.load(answer)[field]
        except urllib.error.HTTPError as error:
            with error:
                raise TokenizerError(
                    f"The engine at {self.url} answered {path} with status {error.code}."
                ) from error
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise EngineUnreachable(
                f"No engine answers at {self.url}: {reason}.", "Start it, or check the address."
            ) from error
        except (HTTPException, ValueError, KeyError, TypeError) as error:
            raise TokenizerError(
                f"What answers at {self.url}{path} is no vLLM engine.", "Check the address."
            ) from error
        if not isinstance(found, list | str):
            raise TokenizerError(f"What answers at {self.url}{path} is no vLLM engine.", "Check the address.")
        return found
