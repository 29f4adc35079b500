"""Documents from a seed: the same everywhere, long enough, never twice."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus import Document, TokenDocument, characters_for, cut, document, generate, shared_chunks
from corpus.generate import KINDS
from tests.corpus.tokenizers import TOKENIZERS

SNAPSHOTS = Path(__file__).with_name("snapshots")
SEEDS = st.integers(0, 2**40)


@given(SEEDS, st.integers(0, 60))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_seed_gives_the_same_document_again(seed: int, index: int) -> None:
    first = document(seed, index, 4_000)
    assert first == document(seed, index, 4_000)
    assert first.text != document(seed + 1, index, 4_000).text


@given(SEEDS, st.integers(0, 9), st.sampled_from([1, 9_000, 30_000]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_document_is_clean_and_long_enough(seed: int, index: int, characters: int) -> None:
    text = document(seed, index, characters).text
    assert len(text) >= characters
    assert not [sign for sign in ("{", "}", "\x01", "\x02", " .", " ,", "|]") if sign in text]
    paragraphs = [part for part in text.split("\n\n") if len(part) > 60]
    assert len(paragraphs) == len(set(paragraphs))


def test_thirty_documents_are_fifteen_of_each_domain_in_ten_kinds() -> None:
    documents = generate(0, 30, 3_000)
    domains = [item.domain for item in documents]
    assert (domains.count("legal"), domains.count("medical")) == (15, 15)
    assert len({item.kind for item in documents}) == 10
    assert len({item.document_id for item in documents}) == 30
    assert len({item.title for item in documents}) == 30


@pytest.mark.parametrize("index", range(10))
def test_long_documents_do_not_run_dry(index: int) -> None:
    text = document(3, index, characters_for(32_000)).text
    assert len(text) >= characters_for(32_000)
    paragraphs = [part for part in text.split("\n\n") if len(part) > 60]
    assert len(paragraphs) == len(set(paragraphs))


def test_how_many_there_are_changes_none_of_them() -> None:
    assert generate(5, 12, 2_000)[:4] == generate(5, 4, 2_000)


def _ids(item: Document, tokenizer: str) -> TokenDocument:
    ids = TOKENIZERS[tokenizer](item.text)
    return cut(item, ids, len(ids))


def test_no_two_of_a_thousand_documents_share_a_chunk() -> None:
    """256 words, or 256 groups of three bytes: shorter chunks than any tokenizer of a served model makes."""
    documents = generate(11, 1_000, 6_000)
    for tokenizer in ("words", "triples"):
        assert shared_chunks([_ids(item, tokenizer) for item in documents], 256) == (), tokenizer
    # A chunk of 256 bytes is a sentence or two, and may recur; nowhere does it stand at the beginning.
    found = shared_chunks([_ids(item, "bytes") for item in documents], 256)
    assert [item for item in found if item.hit] == []
    assert len(found) < 150


def test_documents_diverge_within_their_first_chunk() -> None:
    documents = generate(2, 400, 500)
    assert len({item.text.encode()[:256] for item in documents}) == 400


@pytest.mark.parametrize("index", [0, 1, 4])
def test_snapshot(index: int) -> None:
    found = document(0, index, characters_for(10_000))
    stored = json.loads((SNAPSHOTS / "hashes.json").read_text(encoding="utf-8"))
    start = (SNAPSHOTS / f"{found.document_id}.txt").read_bytes().decode()
    assert found.text[: len(start)] == start, "run python -m tests.corpus.write_snapshots if this is meant"
    assert found.sha256 == stored[found.document_id]


def _interpreters() -> list[str]:
    found = [sys.executable]
    for name in ("python3.11", "python3.12", "python3.13"):
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            found.append(path)
    return found


def test_every_python_here_gives_the_same_bytes() -> None:
    """The package needs nothing but the standard library, so any interpreter can run it."""
    code = (
        "import hashlib, corpus\n"
        "text = ''.join(d.text for d in corpus.generate(9, 10, 9000))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    expected = hashlib.sha256("".join(item.text for item in generate(9, 10, 9_000)).encode()).hexdigest()
    root = Path(__file__).resolve().parents[2]
    for number, python in enumerate(_interpreters()):
        run = subprocess.run(
            [python, "-S", "-c", code],
            cwd=root,
            env={"PYTHONHASHSEED": str(number), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == expected, python


def test_kinds_are_named_once() -> None:
    names = [kind for kinds in KINDS.values() for kind, _ in kinds]
    assert len(names) == len(set(names)) >= 8
