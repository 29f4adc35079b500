"""Responses and event streams, cut anywhere."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from remote.onnode.completion import Completion
from remote.onnode.event_stream import EventStream, Message
from remote.onnode.failed_request import FailedRequest
from remote.onnode.http_response import HttpResponse
from remote.onnode.reply import Reply
from tests.remote.scripted_engine import CHUNKED_END, CHUNKED_HEAD, chunk, chunked, last, sse

NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data, cut at some positions."""
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


CUTS = st.lists(st.integers(min_value=0, max_value=1 << 16), max_size=30)


@settings(deadline=None)
@given(parts=st.lists(st.binary(min_size=1, max_size=40), max_size=8), cuts=CUTS, trailer=st.booleans())
def test_chunked_coding_cut_anywhere(parts: list[bytes], cuts: list[int], trailer: bool) -> None:
    end = b"0;note=x\r\nX-Trailer: 1\r\n\r\n" if trailer else CHUNKED_END
    sent = CHUNKED_HEAD + chunked(*parts) + end
    response, body, was_complete = HttpResponse(), b"", []
    for piece in pieces(sent, cuts):
        was_complete.append(response.complete)
        body += response.feed(piece)
    assert body == b"".join(parts)
    assert response.status == 200
    assert response.complete
    assert not any(was_complete)


@settings(deadline=None)
@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), max_size=6),
    newline=NEWLINES,
    cuts=CUTS,
)
def test_an_event_stream_cut_anywhere(texts: list[str], newline: str, cuts: list[int]) -> None:
    stream = EventStream()
    data = sse(*texts, newline=newline)
    found = [m.data for piece in pieces(data, cuts) for m in stream.feed(piece, 1)]
    assert found == texts


def test_data_in_several_lines_and_without_a_space() -> None:
    assert EventStream().feed(b"data:a\r\ndata: b\r\n:x\r\nid: 7\r\n\r\n", 5) == [Message("a\nb", 5)]


def test_a_blank_line_that_comes_late_does_not_move_the_token() -> None:
    stream = EventStream()
    assert stream.feed(b"data: a", 1) == []
    assert stream.feed(b"bc\n", 2) == []
    assert stream.feed(b"\n", 3) == [Message("abc", 2)]


@settings(deadline=None)
@given(newline=NEWLINES, cuts=CUTS, sizes=st.lists(st.integers(min_value=1, max_value=200), min_size=1))
def test_a_whole_answer_cut_anywhere(newline: str, cuts: list[int], sizes: list[int]) -> None:
    role = {"id": "c", "choices": [{"delta": {"role": "assistant", "content": ""}}]}
    before = sse(role, newline=newline)
    token = f"data: {json.dumps(chunk('Ä'))}{newline}".encode()
    rest = newline.encode() + sse(chunk("B", "length"), last(), "[DONE]", newline=newline)
    body = before + token + rest
    parts: list[bytes] = []
    while body:
        size = sizes[len(parts) % len(sizes)]
        parts.append(body[:size])
        body = body[size:]
    sent = CHUNKED_HEAD + chunked(*parts) + CHUNKED_END
    reply, complete, received, expected_ns = Reply(), False, 0, None
    # Where the first byte of the line end after the token lies in what is sent, chunk sizes and all.
    token_end = _position(parts, len(before) + len(token) - len(newline))
    for stamp_ns, piece in enumerate(pieces(sent, cuts), start=1):
        received += len(piece)
        if expected_ns is None and received > token_end:
            expected_ns = stamp_ns
        complete = complete or reply.feed(piece, stamp_ns)
    assert complete
    assert reply.completion.text == "ÄB"
    assert reply.completion.check(6) == expected_ns


NAMES = ["id", "choices", "usage", "error", "text", "delta", "finish_reason", "completion_tokens"]
SCALARS = st.none() | st.integers() | st.sampled_from(["", "x"])
FLAT = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(NAMES), SCALARS, max_size=3)
NESTED = FLAT | st.lists(st.dictionaries(st.sampled_from(NAMES), FLAT, max_size=3), max_size=2)


@settings(deadline=None)
@given(message=st.dictionaries(st.sampled_from(NAMES), NESTED, max_size=4))
def test_a_message_of_any_shape_is_taken_or_refused(message: dict[str, Any]) -> None:
    completion = Completion()
    with suppress(FailedRequest):
        completion.take(Message(json.dumps(message), 1))
        completion.take(Message(json.dumps(last()), 2))
        assert completion.check(6) == 1
    assert isinstance(completion.text, str)


def _position(parts: list[bytes], index: int) -> int:
    """Where a byte of the body stands in the chunked answer."""
    position = len(CHUNKED_HEAD)
    for part in parts:
        position += len(b"%x\r\n" % len(part))
        if index < len(part):
            return position + index
        index -= len(part)
        position += len(part) + 2
    raise AssertionError("beyond the body")
