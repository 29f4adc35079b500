"""Exactly N tokens, chunks in common, and what earlier requests leave in the store."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import Document, TokenDocument, cut, expected_hit_tokens, full_chunks, ids_sha256, shared_chunks
from corpus.errors import CorpusError
from corpus.prefix import expected_reuse, system_prompt, with_prefix

DOCUMENT = Document("legal-001-lease", "legal", "lease", "A lease", "Käse und Brot")
IDS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40)


def ids_of(name: str, *ids: int) -> TokenDocument:
    return TokenDocument(name, ids, None, ids_sha256(ids))


@given(IDS, st.data())
def test_a_cut_has_exactly_so_many_ids(ids: list[int], data: st.DataObject) -> None:
    tokens = data.draw(st.integers(1, len(ids)))
    short = cut(DOCUMENT, ids, tokens)
    assert short.token_ids == tuple(ids[:tokens])
    assert short.sha256 == ids_sha256(ids[:tokens])


def test_too_short_a_document_is_named_with_both_counts() -> None:
    with pytest.raises(CorpusError, match=r"legal-001-lease has 3 tokens, but 1,000 are needed"):
        cut(DOCUMENT, [1, 2, 3], 1_000)
    with pytest.raises(CorpusError, match="at least one"):
        cut(DOCUMENT, [1], 0)


def test_the_characters_of_a_cut_are_known_only_when_it_decodes_to_the_beginning() -> None:
    data = list(DOCUMENT.text.encode())
    assert cut(DOCUMENT, data, 3, bytes(data[:3]).decode()).cut_characters == 2
    inside = cut(DOCUMENT, data, 2, bytes(data[:2]).decode(errors="replace"))
    assert inside.cut_characters is None
    assert inside.token_ids == (0x4B, 0xC3)
    assert cut(DOCUMENT, data, 3).cut_characters is None


def test_the_digest_of_ids_is_that_of_four_bytes_each_little_end_first() -> None:
    assert ids_sha256([1, 258]) == hashlib.sha256(b"\x01\0\0\0\x02\x01\0\0").hexdigest()


def test_a_common_beginning_hits_and_a_common_middle_does_not() -> None:
    documents = [ids_of("a", 1, 2, 3, 4, 5, 6), ids_of("b", 1, 2, 9, 9, 5, 6), ids_of("c", 8, 8, 1, 2, 0)]
    found = shared_chunks(documents, 2)
    assert [
        (item.first_id, item.first_chunk, item.second_id, item.second_chunk, item.hit) for item in found
    ] == [
        ("a", 0, "b", 0, True),
        ("a", 2, "b", 2, False),
        ("a", 0, "c", 1, False),
    ]


def test_a_chunk_that_is_not_full_is_no_chunk() -> None:
    assert shared_chunks([ids_of("a", 1, 2, 3), ids_of("b", 1, 2, 3)], 4) == ()
    assert shared_chunks([ids_of("a", 1, 1, 1, 1)], 2) == ()


def test_hits_grow_with_what_is_stored() -> None:
    requests = [(1, 2, 3, 4, 5), (1, 2, 9, 9), (1, 2, 3, 4, 5), (7,)]
    assert expected_hit_tokens(requests, 2) == (0, 2, 4, 0)


@given(st.integers(0, 60), st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(1, 16))
def test_the_expected_reuse_is_that_of_the_ids(prefix: int, lengths: list[int], chunk: int) -> None:
    head = range(10_000, 10_000 + prefix)
    documents = [
        ids_of(f"d{number}", *range(100_000 * (number + 1), 100_000 * (number + 1) + length))
        for number, length in enumerate(lengths)
    ]
    requests = [item.token_ids for item in with_prefix(list(head), prefix, documents)]
    hits = expected_hit_tokens([*requests, *requests], chunk)
    reuse = expected_reuse([(f"d{number}", length) for number, length in enumerate(lengths)], prefix, chunk)
    assert [item.cold_hit_tokens for item in reuse] == list(hits[: len(lengths)])
    assert [item.cached_hit_tokens for item in reuse] == list(hits[len(lengths) :])
    assert [item.prompt_tokens for item in reuse] == [len(ids) for ids in requests]


def test_too_short_a_system_prompt_is_refused() -> None:
    with pytest.raises(CorpusError, match="has 2 tokens, but 5 are needed"):
        with_prefix([1, 2], 5, [])


def test_a_system_prompt_is_as_long_as_asked_and_repeats_nothing() -> None:
    text = system_prompt(4, 20_000)
    assert len(text) >= 20_000
    assert text == system_prompt(4, 20_000)
    rules = [part.partition(". ")[2] for part in text.split("\n\n")[1:]]
    assert len(rules) == len(set(rules)) > 50


@given(st.integers(0, 10**6), st.integers(1, 4096))
def test_full_chunks(tokens: int, chunk: int) -> None:
    count = full_chunks(tokens, chunk)
    assert count * chunk <= tokens < (count + 1) * chunk
