"""Why a request gave no valid time."""

from __future__ import annotations

from typing import Optional

CONNECTION = "connection"
HTTP = "http"
NO_TOKEN = "no_token"  # noqa: S105 - a token of text
PROMPT_TOKENS = "prompt_tokens"
PROTOCOL = "protocol"
STREAM_ERROR = "stream_error"
TIMEOUT = "timeout"


class FailedRequest(Exception):
    """A request that must not count as a sample: one of the codes above, and a sentence."""

    def __init__(self, error: str, detail: str, http_status: Optional[int] = None) -> None:
        super().__init__(detail)
        self.error = error
        self.detail = detail
        self.http_status = http_status
