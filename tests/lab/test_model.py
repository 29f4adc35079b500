"""The tiny model is the same wherever it is built, and its tokenizer fits English."""

from __future__ import annotations

import hashlib
import json
import subprocess
from itertools import islice
from pathlib import Path

import pytest

from remote.errors import LabError
from remote.lab import model, model_text
from remote.lab.parts import build_model
from tests.lab import helpers

SAMPLE = (
    "The tenant shall pay the rent on the first day of each month, and the landlord may end this lease by"
    " notice in writing. The patient, a woman of 67 years, was admitted with fever and chest pain; treatment"
    " with an antibiotic was started at once, and her temperature was normal after 3 days.\n"
)

TOKENIZE = """
import json, sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
ids = tokenizer.encode(sys.argv[2])
print(json.dumps({"tokens": len(ids), "same": tokenizer.decode(ids) == sys.argv[2], "vocab": len(tokenizer)}))
"""


def digests(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


def test_a_chunk_is_two_mebibytes() -> None:
    config = model.configuration()
    head_size = config["hidden_size"] // config["num_attention_heads"]
    token_bytes = config["num_hidden_layers"] * 2 * config["num_key_value_heads"] * head_size * 4
    assert token_bytes * 256 == 2 * 1024**2


def test_the_weights_have_the_shapes_of_the_configuration() -> None:
    config = model.configuration()
    weights = model.weights()
    assert weights["model.embed_tokens.weight"].shape == (config["vocab_size"], config["hidden_size"])
    assert sum(name.endswith("q_proj.weight") for name in weights) == config["num_hidden_layers"]
    again = model.weights()
    assert all((weights[name] == again[name]).all() for name in weights)


def test_the_text_is_the_same_for_the_same_seed() -> None:
    assert list(islice(model_text.sentences(1), 50)) == list(islice(model_text.sentences(1), 50))
    assert list(islice(model_text.sentences(1), 50)) != list(islice(model_text.sentences(2), 50))


def test_a_directory_without_its_stamp_is_no_model(tmp_path: Path) -> None:
    assert not model.is_built(tmp_path)
    (tmp_path / model.STAMP).write_text('{"build": "0"}')
    assert not model.is_built(tmp_path)


def test_a_builder_that_fails_is_one_sentence(tmp_path: Path) -> None:
    python = str(tmp_path / "python")
    helpers.write_script(python, "#!/bin/sh\necho \"No module named 'tokenizers'\" >&2\nexit 1\n")
    with pytest.raises(LabError, match=r"could not be built in .*: No module named 'tokenizers'\."):
        build_model(Path(python), tmp_path / "model")


@pytest.mark.lab
def test_two_builds_are_equal_and_the_tokenizer_fits(engine_env: Path, tmp_path: Path) -> None:
    python = engine_env / "bin" / "python"
    for name in ("one", "two"):
        build_model(python, tmp_path / name)
        assert model.is_built(tmp_path / name)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    done = subprocess.run(
        [str(python), "-c", TOKENIZE, str(tmp_path / "one"), SAMPLE],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["same"] is True
    assert answer["vocab"] == model.VOCAB
    assert 3.0 <= len(SAMPLE) / answer["tokens"] <= 5.0
