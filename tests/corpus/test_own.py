"""A person's own documents: every file is used or named with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import Document, cut
from corpus.errors import CorpusError
from corpus.own import TraceRequest, exact_problems, expected_trace_hit_tokens, read, text_problems, trace_ids
from corpus.own.sharing import common_prefix
from corpus.own.trace import BLOCK_TOKENS


def lines(*records: Any) -> str:
    return "\n".join(json.dumps(record) for record in records) + "\n"


def codes(path: Path) -> list[tuple[str, str, str]]:
    return [(problem.source, problem.code, problem.outcome) for problem in read(path).problems]


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# Second\n", encoding="utf-8")
    (tmp_path / "a.txt").write_bytes("\ufeffFirst, ä\r\n".encode())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.jsonl").write_text(
        lines({"text": "Third", "id": "three"}, {"prompt": "Fourth"}), encoding="utf-8"
    )
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    reading = read(tmp_path)
    assert [item.text for item in reading.documents] == ["First, ä\r\n", "# Second\n", "Third", "Fourth"]
    assert [item.title for item in reading.documents] == ["a.txt", "b.md", "three", "sub/c.jsonl:2"]
    assert [item.document_id for item in reading.documents] == ["own-001", "own-002", "own-003", "own-004"]
    assert reading.problems == ()
    assert reading.form == "folder"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.txt", b"", ("a.txt", "empty")),
        ("a.txt", b" \n\t", ("a.txt", "empty")),
        ("a.txt", b"caf\xe9", ("a.txt", "not-utf-8")),
        ("a.jsonl", b"", ("a.jsonl", "empty")),
        ("a.jsonl", b'{"text": "ok"}\n{"text": ', ("a.jsonl:2", "bad-json")),
        ("a.jsonl", b'{"text": ""}', ("a.jsonl:1", "empty")),
        ("a.jsonl", b'{"title": "no text"}', ("a.jsonl:1", "unknown-format")),
        ("a.jsonl", b"[1]", ("a.jsonl:1", "unknown-format")),
        ("a.json", b"{", ("a.json", "bad-json")),
        ("a.json", b'[{"conversations": []}]', ("a.json:1", "no-text")),
        ("a.json", b'[{"conversations": [{"from": "gpt", "value": "x"}]}]', ("a.json:1", "no-text")),
        ("a.jsonl", b'{"body": {"input": [1, 2]}}', ("a.jsonl:1", "no-text")),
        (
            "a.jsonl",
            b'{"body": {"messages": [{"content": [{"type": "image_url"}]}]}}',
            ("a.jsonl:1", "not-text"),
        ),
        ("a.jsonl", b'{"hash_ids": [1], "input_length": 1024}', ("a.jsonl:1", "bad-record")),
        ("a.jsonl", b'{"hash_ids": ["1"], "input_length": 5}', ("a.jsonl:1", "bad-record")),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(
    tmp_path: Path, name: str, data: bytes, expected: tuple[str, str]
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert codes(path) == [(*expected, "left out")]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (r'{"text": "\ud800 half"}', "not-utf-8"),
        (r'{"conversations": [{"from": "human", "value": "\udc00"}]}', "not-utf-8"),
        ('{"conversations": [{"from": "human", "value": null}]}', "empty"),
        ('{"body": {"messages": [{"content": [{"type": "text", "text": null}]}]}}', "empty"),
        ("[" * 100_000, "bad-json"),
        ('{"hash_ids": [1' + "0" * 5_000 + '], "input_length": 5}', "bad-json"),
        ('{"hash_ids": [1], "input_length": 5, "timestamp": 1' + "0" * 400 + "}", "bad-record"),
        ('{"hash_ids": [1], "input_length": 5, "timestamp": NaN}', "bad-record"),
        ('{"hash_ids": [1], "input_length": 5, "output_length": -1}', "bad-record"),
        ('{"hash_ids": [true], "input_length": 5}', "bad-record"),
        ('{"hash_ids": [], "input_length": 0}', "bad-record"),
    ],
)
def test_a_hostile_record_is_left_out_with_its_reason(tmp_path: Path, line: str, code: str) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(f'{line}\n{{"text": "A good one."}}\n', encoding="utf-8")
    assert codes(path) == [("own.jsonl:1", code, "left out")]
    assert [document.text for document in read(path).documents] == ["A good one."]


def test_a_name_that_no_file_can_hold_is_none(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(r'{"id": "\ud800", "text": "A good one."}')
    assert [document.title for document in read(tmp_path / "own.jsonl").documents] == ["own.jsonl:1"]


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["human", "user", "text", "input_text", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["from", "value", "messages", "prompt", "content", "type", "text"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "text",
        "prompt",
        "conversations",
        "body",
        "hash_ids",
        "input_length",
        "output_length",
        "timestamp",
        "id",
    ]
)


@given(st.lists(st.dictionaries(FIELDS, ANY, max_size=4), min_size=1, max_size=4))
def test_every_record_is_used_or_named(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("own") / "own.jsonl"
    path.write_text(lines(*records), encoding="utf-8")
    found = read(path)
    assert len(found.documents) + len(found.requests) + len(found.problems) == len(records)
    for document in found.documents:
        assert document.sha256
        assert document.text.strip()


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="holds no document"):
        read(tmp_path)
    with pytest.raises(CorpusError, match="no folder or file"):
        read(tmp_path / "missing")


def test_sharegpt(tmp_path: Path) -> None:
    path = tmp_path / "chats.json"
    turns = [("human", "One?"), ("gpt", "Two."), ("human", "Three?"), ("gpt", "Four.")]
    record = {"id": "c1", "conversations": [{"from": who, "value": value} for who, value in turns]}
    path.write_text(json.dumps([record]), encoding="utf-8")
    reading = read(path)
    assert reading.form == "ShareGPT JSON"
    assert [(item.title, item.text) for item in reading.documents] == [("c1", "One?\n\nTwo.\n\nThree?")]


def test_openai_batch(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    parts = [{"type": "text", "text": "Part one"}, {"type": "text", "text": "part two"}]
    path.write_text(
        lines(
            {"custom_id": "r1", "body": {"messages": [{"content": "System"}, {"content": parts}]}},
            {"custom_id": "r2", "body": {"prompt": "Plain"}},
        ),
        encoding="utf-8",
    )
    reading = read(path)
    assert reading.form == "OpenAI batch JSONL"
    assert [item.text for item in reading.documents] == ["System\n\nPart one\npart two", "Plain"]
    assert [item.title for item in reading.documents] == ["r1", "r2"]


def test_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(
        lines(
            {"timestamp": 0, "input_length": 1500, "output_length": 5, "hash_ids": [1, 2, 3]},
            {"timestamp": 10, "input_length": 1100, "output_length": 7, "hash_ids": [1, 2, 4]},
        ),
        encoding="utf-8",
    )
    reading = read(path)
    assert reading.form == "Mooncake-style trace"
    assert reading.documents == ()
    assert [request.source for request in reading.requests] == ["trace.jsonl:1", "trace.jsonl:2"]
    assert expected_trace_hit_tokens(reading.requests, 256) == (0, 1024)
    assert expected_trace_hit_tokens(reading.requests * 2, 256)[2:] == (1280, 1024)


def block(hash_id: int) -> range:
    return range(hash_id * 1000, hash_id * 1000 + BLOCK_TOKENS)


@given(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=4), min_size=1, max_size=6), st.data())
def test_a_trace_s_expected_hits_are_those_of_its_ids(blocks: list[list[int]], data: st.DataObject) -> None:
    from corpus import expected_hit_tokens

    requests = []
    for ids in blocks:
        last = data.draw(st.sampled_from([1, 100, 255, 256, 257, 511, 512]))
        requests.append(TraceRequest("t", 0, (len(ids) - 1) * BLOCK_TOKENS + last, 1, tuple(ids)))
    token_ids = [trace_ids(request, block) for request in requests]
    assert [len(ids) for ids in token_ids] == [request.input_tokens for request in requests]
    assert expected_trace_hit_tokens(requests, 256) == expected_hit_tokens(token_ids, 256)


def test_a_block_that_is_too_short_is_refused() -> None:
    with pytest.raises(CorpusError, match="block 7 has 3 tokens, but 512 are needed"):
        trace_ids(TraceRequest("t:1", 0, 600, 1, (7, 8)), lambda _: [1, 2, 3])


def own(name: str, text: str) -> Document:
    return Document(name, "own", "text", name, text)


def test_duplicates_and_short_texts_are_left_out_and_nothing_is_padded() -> None:
    long, short = "x" * 4_000, "y" * 99
    kept, problems = text_problems([own("a", long), own("b", long), own("c", short)], 100)
    assert [item.document_id for item in kept] == ["a"]
    assert [(problem.source, problem.code, problem.outcome) for problem in problems] == [
        ("b", "duplicate", "left out"),
        ("c", "too-short", "left out"),
    ]
    assert "padded" in problems[1].message


def test_a_common_beginning_is_told_but_kept() -> None:
    head = "The same letterhead. " * 60
    kept, problems = text_problems([own("a", head + "A" * 200), own("b", head + "B" * 200)], 100)
    assert len(kept) == 2
    assert [(problem.source, problem.code, problem.outcome) for problem in problems] == [
        ("b", "shared-prefix", "kept")
    ]
    assert f"first {len(head):,} characters" in problems[0].message


def test_token_ids_tell_how_many_chunks_would_hit() -> None:
    texts = [own("a", "a" * 600 + "b" * 600), own("b", "a" * 600 + "c" * 600)]
    cuts = [cut(item, list(item.text.encode()), 1_000) for item in texts]
    problems = exact_problems(cuts, {"a": "first.txt", "b": "second.txt"}, 256)
    assert [(problem.source, problem.code) for problem in problems] == [("second.txt", "shared-prefix")]
    assert "first 2 chunks" in problems[0].message
    assert "first.txt" in problems[0].message


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_common_prefix(head: str, first: str, second: str) -> None:
    length = common_prefix(head + first, head + second)
    assert length >= len(head)
    assert (head + first)[:length] == (head + second)[:length]
    assert (head + first)[: length + 1] != (head + second)[: length + 1] or length == min(
        len(head + first), len(head + second)
    )
