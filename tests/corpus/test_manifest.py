"""The manifest, its totals and its files."""

from __future__ import annotations

import csv
import io
import json

from corpus import cut, generate, manifest, to_csv, to_json, totals


def test_a_manifest_with_everything_known() -> None:
    documents = generate(0, 3, 2_000)
    ids = [cut(item, list(item.text.encode()), 1_000) for item in documents]
    rows = manifest(documents, ids, chunk_tokens=256, kv_bytes_per_token=57_344)
    assert [(row.tokens, row.chunks, row.kv_bytes) for row in rows] == [(1_000, 3, 3 * 256 * 57_344)] * 3
    assert rows[0].sha256 == documents[0].sha256
    assert rows[0].ids_sha256 == ids[0].sha256
    whole = totals(rows)
    assert (whole.documents, whole.tokens, whole.chunks) == (3, 3_000, 9)
    assert whole.kv_bytes == 9 * 256 * 57_344
    assert whole.characters == sum(len(item.text) for item in documents)


def test_the_seed_benchmark_s_document() -> None:
    document = generate(0, 1, 20_000)[0]
    ids = cut(document, list(document.text.encode()), 10_000)
    row = manifest([document], [ids], kv_bytes_per_token=57_344)[0]
    assert (row.chunks, row.kv_bytes) == (39, 572_522_496)


def test_what_is_not_known_is_not_zero() -> None:
    documents = generate(0, 2, 2_000)
    rows = manifest(documents, [cut(documents[0], list(documents[0].text.encode()), 512)])
    assert [(row.tokens, row.chunks, row.kv_bytes) for row in rows] == [(512, 2, None), (None, None, None)]
    assert totals(rows).tokens is None
    assert totals(rows).kv_bytes is None
    assert totals(()).tokens is None


def test_csv_and_json_say_the_same() -> None:
    rows = manifest(generate(0, 4, 2_000))
    table = list(csv.DictReader(io.StringIO(to_csv(rows))))
    data = json.loads(to_json(rows))
    assert [row["sha256"] for row in table] == [row["sha256"] for row in data["documents"]]
    assert [row["tokens"] for row in table] == [""] * 4
    assert data["documents"][0]["tokens"] is None
    assert data["version"] == 1
    assert data["totals"]["documents"] == 4
