"""``kvtui corpus`` as a person and a script use it, with a tokenizer behind a real HTTP server."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus import generate
from kvtui.cli_corpus import app

RUNNER = CliRunner()


class _Tokenizer(http.server.BaseHTTPRequestHandler):
    """Speaks vLLM's two routes with one id a byte."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize" and body.get("add_special_tokens") is False:
            answer: dict[str, object] = {"tokens": list(body["prompt"].encode())}
        elif self.path == "/detokenize":
            answer = {"prompt": bytes(body["tokens"]).decode(errors="replace")}
        else:
            self.send_error(404)
            return
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def engine() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Tokenizer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_show_prints_the_manifest_with_totals() -> None:
    result = RUNNER.invoke(app, ["show", "--documents", "4", "--tokens", "500"])
    assert result.exit_code == 0
    assert "legal-001-lease" in result.stdout
    assert "4 in all" in result.stdout
    assert "working set" in result.stdout


def test_show_as_json_is_data_alone() -> None:
    result = RUNNER.invoke(app, ["show", "--documents", "2", "--tokens", "500", "--json"])
    data = json.loads(result.stdout)
    assert data["totals"]["documents"] == 2
    assert data["documents"][0]["tokens"] is None


def test_show_reads_a_document() -> None:
    result = RUNNER.invoke(app, ["show", "legal-001-lease", "--documents", "1", "--tokens", "500"])
    assert result.stdout == generate(0, 1, 3_450)[0].text


def test_an_unknown_document_is_a_sentence() -> None:
    result = RUNNER.invoke(app, ["show", "nothing", "--documents", "2", "--tokens", "500"])
    assert result.exit_code == 2
    assert "There is no document nothing." in result.stderr
    assert "Traceback" not in result.stderr


def test_a_shared_prefix_shows_what_should_be_found_again() -> None:
    arguments = ["show", "--documents", "2", "--tokens", "500", "--prefix-tokens", "600"]
    result = RUNNER.invoke(app, arguments)
    assert "Expected hit, cold" in result.stdout
    assert result.stdout.rstrip().endswith("1,100                 512                 1,024")


def test_build_writes_exactly_so_many_ids(tmp_path: Path, engine: str) -> None:
    out = tmp_path / "corpus"
    arguments = ["build", str(out), "--documents", "3", "--tokens", "700", "--engine", engine]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(out / "manifest.json")
    rows = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["documents"]
    assert [row["tokens"] for row in rows] == [700, 700, 700]
    for row in rows:
        ids = json.loads((out / f"{row['document_id']}.ids.json").read_text(encoding="utf-8"))
        text = (out / f"{row['document_id']}.txt").read_bytes()
        assert bytes(ids["token_ids"]) == text[:700]
    assert (out / "manifest.csv").read_text(encoding="utf-8").count("\n") == 4


def test_build_with_a_prefix_puts_it_before_every_document(tmp_path: Path, engine: str) -> None:
    arguments = ["build", str(tmp_path), "--documents", "2", "--tokens", "600", "--engine", engine]
    result = RUNNER.invoke(app, [*arguments, "--prefix-tokens", "300"])
    assert result.exit_code == 0, result.stderr
    ids = [
        json.loads(path.read_text(encoding="utf-8"))["token_ids"]
        for path in sorted(tmp_path.glob("*.ids.json"))
    ]
    assert [len(item) for item in ids] == [900, 900]
    assert ids[0][:300] == ids[1][:300]
    assert ids[0][300:600] != ids[1][300:600]


def test_check_names_every_file_and_ends_with_five(tmp_path: Path, engine: str) -> None:
    (tmp_path / "good.txt").write_text("A long enough text. " * 60, encoding="utf-8")
    (tmp_path / "short.txt").write_text("Too short.", encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe")
    result = RUNNER.invoke(app, ["check", str(tmp_path), "--tokens", "900", "--engine", engine, "--json"])
    assert result.exit_code == 5
    data = json.loads(result.stdout)
    assert data["documents"] == 1
    assert [(item["source"], item["code"]) for item in data["problems"]] == [
        ("bad.txt", "not-utf-8"),
        ("short.txt", "too-short"),
    ]


def test_check_of_a_trace_tells_the_expected_hits(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    record = {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
    path.write_text(json.dumps(record) + "\n" + json.dumps(record) + "\n", encoding="utf-8")
    result = RUNNER.invoke(app, ["check", str(path), "--json"])
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert (data["trace_requests"], data["trace_tokens"], data["trace_expected_hit_tokens"]) == (
        2,
        2048,
        1024,
    )


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://127.0.0.1:9", 3),
        ("127.0.0.1:9", 2),
        ("file:///etc/hostname", 2),
        ("http://", 2),
        ("http://127.0.0.1:99999", 2),
        ("http://127.0.0.1:0", 2),
        ("http://[::1", 2),
        ("http://127.0.0.1:9/a b", 2),
        ("", 2),
    ],
)
def test_no_engine_is_a_sentence(address: str, code: int) -> None:
    result = RUNNER.invoke(app, ["show", "--documents", "1", "--tokens", "50", "--engine", address])
    assert result.exit_code == code, result.stderr
    assert address in result.stderr
    assert "Traceback" not in result.stderr


def test_an_engine_that_refuses_is_a_failure(engine: str) -> None:
    result = RUNNER.invoke(
        app, ["show", "--documents", "1", "--tokens", "50", "--engine", f"{engine}/elsewhere"]
    )
    assert result.exit_code == 1
    assert "answered /tokenize with status 404" in result.stderr


def built(out: Path, *more: str) -> list[str]:
    result = RUNNER.invoke(app, ["build", str(out), "--tokens", "300", *more])
    assert result.exit_code == 0, result.stderr
    return sorted(path.name for path in out.iterdir())


def test_a_smaller_corpus_leaves_nothing_of_the_larger_one(tmp_path: Path, engine: str) -> None:
    assert len(built(tmp_path, "--documents", "3", "--engine", engine)) == 3 * 2 + 2
    (tmp_path / "notes.txt").write_text("mine")
    edited = tmp_path / "medical-002-discharge-summary.txt"
    edited.write_text("edited by hand")
    assert built(tmp_path, "--documents", "1") == [
        "legal-001-lease.txt",
        "manifest.csv",
        "manifest.json",
        edited.name,
        "notes.txt",
    ]


def test_a_manifest_of_someone_else_is_left_alone(tmp_path: Path) -> None:
    rows = [{"document_id": "../other", "sha256": "x"}, {"document_id": "mine", "sha256": "x"}, 7]
    data = {"version": 1, "totals": {}, "documents": rows}
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    (tmp_path / "mine.txt").write_text("mine")
    assert "mine.txt" in built(tmp_path, "--documents", "1")


def test_what_build_wrote_checks_clean(tmp_path: Path, engine: str) -> None:
    out = tmp_path / "corpus"
    built(out, "--documents", "3", "--engine", engine)
    for place in (out, tmp_path):
        result = RUNNER.invoke(app, ["check", str(place), "--tokens", "300"])
        assert result.exit_code == 0, result.stdout
        assert "3 documents can be used, 0 problems." in result.stderr
    # Another tool's manifest is no document, and is told of.
    (out / "manifest.json").write_text(json.dumps({"name": "app", "version": 1}))
    result = RUNNER.invoke(app, ["check", str(out), "--tokens", "300"])
    assert result.exit_code == 5
    assert "manifest.json:1" in result.stdout


def test_the_generated_corpus_checks_clean(engine: str) -> None:
    result = RUNNER.invoke(app, ["check", "--documents", "6", "--tokens", "600", "--engine", engine])
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "6 documents can be used, 0 problems." in result.stderr
