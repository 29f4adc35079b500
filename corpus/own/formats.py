"""The formats of a record: which one it is, and the text in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from corpus.own.trace import BLOCK_TOKENS, TraceRequest

SHAREGPT = "ShareGPT JSON"
BATCH = "OpenAI batch JSONL"
TRACE = "Mooncake-style trace"
PLAIN = "JSON with text"
MOST_STAMP_MS = 2**63


class Unusable(Exception):
    """A record holds no prompt.

    Attributes:
        code: A word for programs.
        message: Why, in one sentence.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def form_of(record: object) -> str | None:
    """The format of a record, by the fields that it has; None when it is none of those known."""
    if not isinstance(record, Mapping):
        return None
    if "hash_ids" in record:
        return TRACE
    if "conversations" in record:
        return SHAREGPT
    if "body" in record:
        return BATCH
    if any(isinstance(record.get(field), str) for field in ("text", "prompt")):
        return PLAIN
    return None


def name_of(record: Mapping[str, Any]) -> str:
    """The name that a record gives itself, or an empty string."""
    for field in ("custom_id", "id", "document_id"):
        if isinstance(record.get(field), str | int):
            return str(record[field])
    return ""


def text_of(form: str, record: Mapping[str, Any]) -> str:
    """The prompt in a record.

    Raises:
        Unusable: There is none.
    """
    if form == SHAREGPT:
        return _conversation(record["conversations"])
    if form == BATCH:
        return _body(record["body"])
    for field in ("text", "prompt"):
        if isinstance(record.get(field), str):
            return str(record[field])
    raise Unusable("no-text", "It has neither a text nor a prompt.")


def _conversation(turns: object) -> str:
    """All turns up to the last one by a person: what a model would be sent to answer it."""
    if not isinstance(turns, list):
        raise Unusable("no-text", "Its conversations are not a list.")
    values = [
        (_text(turn.get("from")), _text(turn.get("value"))) for turn in turns if isinstance(turn, Mapping)
    ]
    last = max((place for place, (who, _) in enumerate(values) if who in ("human", "user")), default=-1)
    if last < 0:
        raise Unusable("no-text", "No turn of the conversation is by a person.")
    return "\n\n".join(value for _, value in values[: last + 1])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _body(body: object) -> str:
    """The text of a chat or a completion request."""
    if not isinstance(body, Mapping):
        raise Unusable("no-text", "Its body is not an object.")
    if isinstance(body.get("prompt"), str):
        return str(body["prompt"])
    messages = body.get("messages")
    if not isinstance(messages, list):
        raise Unusable("no-text", "Its body has neither messages nor a prompt in text.")
    return "\n\n".join(_content(message) for message in messages if isinstance(message, Mapping))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if not isinstance(content, list):
        raise Unusable("no-text", "A message has content that is neither text nor a list of parts.")
    texts = []
    for part in content:
        if not isinstance(part, Mapping) or part.get("type") not in ("text", "input_text"):
            raise Unusable("not-text", "A message has a part that is not text, such as an image.")
        texts.append(_text(part.get("text")))
    return "\n".join(texts)


def request_of(source: str, record: Mapping[str, Any]) -> TraceRequest:
    """The request in a record of a trace.

    Raises:
        Unusable: A field is missing or of the wrong kind, or the number of blocks does not fit the length.
    """
    ids, length, output = record.get("hash_ids"), record.get("input_length"), record.get("output_length", 1)
    stamp = record.get("timestamp", 0)
    whole = (
        isinstance(ids, list) and all(type(item) is int for item in ids),
        type(length) is int and length > 0,
        type(output) is int and output >= 0,
        # Not NaN, and nothing that a float cannot hold.
        isinstance(stamp, int | float) and abs(stamp) < MOST_STAMP_MS,
    )
    if not all(whole) or ids is None or length is None:
        raise Unusable(
            "bad-record",
            "Its hash_ids, input_length, output_length or timestamp is missing or no number.",
        )
    blocks = -(-length // BLOCK_TOKENS)
    if len(ids) != blocks:
        raise Unusable(
            "bad-record",
            f"{length:,} tokens make {blocks} blocks of {BLOCK_TOKENS}, but it has {len(ids)} hash ids.",
        )
    return TraceRequest(source, float(stamp), length, output, tuple(ids))
