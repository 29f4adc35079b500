"""Follows a streamed completion of an OpenAI-compatible engine, message by message."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from .answer import Answer, Token
from .event_stream import Message
from .failed_request import NO_TOKEN, PROMPT_TOKENS, PROTOCOL, STREAM_ERROR, FailedRequest

DONE = "[DONE]"


class Completion:
    """What the stream has said so far.

    Attributes:
        first_token_ns: When the first message with a token came in; None before.
        first_token_has_text: False for one such as an end-of-sequence token.
        last_ns: When the last message came in.
        ended: Whether the engine said that nothing follows.
    """

    def __init__(self) -> None:
        self.first_token_ns: Optional[int] = None
        self.first_token_has_text = False
        self.last_ns = 0
        self.ended = False
        self.response_id: Optional[str] = None
        self.finish_reason: Optional[str] = None
        self._text: List[str] = []
        self._answer = Answer()
        self._usage: Dict[str, Any] = {}

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def completion_tokens(self) -> Optional[int]:
        return self._count("completion_tokens")

    @property
    def prompt_tokens(self) -> Optional[int]:
        return self._count("prompt_tokens")

    @property
    def cached_tokens(self) -> Optional[int]:
        """Prompt tokens that were not computed anew; None where the engine does not say."""
        details = self._usage.get("prompt_tokens_details")
        value = details.get("cached_tokens") if isinstance(details, dict) else None
        return value if isinstance(value, int) else None

    @property
    def answer(self) -> Optional[List[Token]]:
        """The first tokens with their log-probabilities; None where the engine does not tell them."""
        return self._answer.known(self.completion_tokens)

    def take(self, message: Message) -> None:
        """Take the next message.

        Raises:
            FailedRequest: ``stream_error`` for an error, ``protocol`` for what is no message of a completion.
        """
        self.last_ns = message.received_ns
        if message.data.strip() == DONE:
            self.ended = True
            return
        try:
            chunk = json.loads(message.data)
        except ValueError:
            chunk = None
        if not isinstance(chunk, dict):
            raise FailedRequest(
                PROTOCOL, "A message of the stream is no JSON object: %r." % message.data[:200]
            )
        if chunk.get("error"):
            raise FailedRequest(
                STREAM_ERROR, "The engine broke off the stream: %s." % _error_text(chunk["error"])
            )
        try:
            self._take_chunk(chunk, message.received_ns)
        except (AttributeError, LookupError, TypeError):
            raise FailedRequest(
                PROTOCOL, "A message of the stream has no known shape: %s." % message.data[:200]
            ) from None

    def check(self, expected_prompt_tokens: int) -> int:
        """Refuse a stream that proves nothing; the time of the first token of one that does.

        Raises:
            FailedRequest: ``no_token``, ``protocol`` (no count of tokens), ``prompt_tokens`` (another count).
        """
        if self.first_token_ns is None:
            raise FailedRequest(NO_TOKEN, "The stream ended without a token.")
        if self.prompt_tokens is None:
            raise FailedRequest(PROTOCOL, "The stream ended without the count of prompt tokens.")
        if self.prompt_tokens != expected_prompt_tokens:
            raise FailedRequest(PROMPT_TOKENS, _miscount(self.prompt_tokens, expected_prompt_tokens))
        return self.first_token_ns

    def _take_chunk(self, chunk: Dict[str, Any], received_ns: int) -> None:
        if self.response_id is None and isinstance(chunk.get("id"), str):
            self.response_id = chunk["id"]
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._usage.update({name: value for name, value in usage.items() if value is not None})
        choices = chunk.get("choices")
        if not choices:
            return
        choice = choices[0]
        text = _text(choice)
        self._text.append(text)
        self._answer.take(choice.get("logprobs"))
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        if self.first_token_ns is None and _carries_token(choice, text, usage):
            self.first_token_ns = received_ns
            self.first_token_has_text = bool(text)

    def _count(self, name: str) -> Optional[int]:
        value = self._usage.get(name)
        return value if isinstance(value, int) else None


def _carries_token(choice: Dict[str, Any], text: str, usage: Any) -> bool:
    """Whether a chunk proves that a token was made; a role, an empty text or a keep-alive does not."""
    counted = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return bool(text or choice.get("finish_reason") or choice.get("token_ids") or (counted or 0) >= 1)


def _text(choice: Dict[str, Any]) -> str:
    text = choice.get("text")
    if text is None:
        text = (choice.get("delta") or {}).get("content")
    return text if isinstance(text, str) else ""


def _error_text(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else error
    return str(text or error)[:500].rstrip(".")


def _miscount(counted: int, expected: int) -> str:
    sentence = "The engine counted %d prompt tokens where %d were sent" % (counted, expected)
    return sentence + (": it added a BOS token." if counted == expected + 1 else ".")
