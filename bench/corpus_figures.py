"""Figures of the corpus: characters a token, vocabulary, compression ratio; the same of any text beside it.

    python -m bench.corpus_figures [--tokenizer tokenizer.json ...] [--ranks NAME=FILE ...] [text ...]

Texts are cut to the length of a document, since both figures depend on the length.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from corpus.generate import KINDS, characters_for, documents, generate

CHARACTERS = 45_000
"""About what 10,000 tokens cover."""
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TIMED, SHOWN = 500, 60
"""How many documents are made against the clock, and how many for the figures."""
Count = Callable[[str], int]


def from_json(path: str) -> Count:
    """A counter of tokens by a ``tokenizer.json``."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def from_ranks(path: str) -> Count:
    """A counter of tokens by a file of merge ranks, split as ``o200k_base`` splits."""
    import tiktoken

    ranks = {}
    for line in Path(path).read_bytes().splitlines():
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    encoding = tiktoken.Encoding("ranks", pat_str=O200K, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def figures(text: str) -> tuple[int, int, float, float]:
    """Words, different words, their share, and how many times zlib (level 9) makes the text smaller."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    data = text.encode()
    return len(words), len(set(words)), len(set(words)) / len(words), len(data) / len(zlib.compress(data, 9))


def speed() -> str:
    """How fast documents of 10,000 tokens are made, by the clock and by the processor's time."""
    wall, cpu = time.perf_counter(), time.process_time()
    size = sum(len(one.text.encode()) for one in documents(1, TIMED, characters_for(10_000))) / 1e6
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return (
        f"{TIMED} documents, {size:.1f} MB: {wall:.2f} s by the clock, {size / wall:.1f} MB/s; "
        f"{cpu:.2f} s of CPU, {size / cpu:.1f} MB/s; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


def main() -> None:
    """Print the figures of every kind, of all together, and of the texts named."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokenizer", action="append", default=[])
    parser.add_argument("--ranks", action="append", default=[])
    parser.add_argument("texts", nargs="*")
    args = parser.parse_args()
    counts: dict[str, Count] = {}
    for path in args.tokenizer:
        counts[Path(path).parent.name + "/" + Path(path).stem] = from_json(path)
    for item in args.ranks:
        name, _, path = item.partition("=")
        counts[name] = from_ranks(path)
    generate(0, 20, 1_000)  # reads the rules, which is done once
    made = generate(0, SHOWN, 65_200)
    print(speed())
    groups = {
        kind: [document.text[:CHARACTERS] for document in made if document.kind == kind]
        for kinds in KINDS.values()
        for kind, _ in kinds
    }
    for path in args.texts:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        groups[Path(path).name] = [
            text[at : at + CHARACTERS] for at in range(0, len(text) - CHARACTERS + 1, CHARACTERS)
        ]
    print(f"{'text':22} {'n':>3} {'words':>6} {'types':>6} {'ratio':>6} {'zlib':>5}  characters a token")
    for name, texts in groups.items():
        if not texts:
            continue
        rows = [figures(text) for text in texts]
        mean = [sum(row[place] for row in rows) / len(rows) for place in range(4)]
        spans = {label: [len(text) / count(text) for text in texts] for label, count in counts.items()}
        tokens = "  ".join(f"{label} {min(span):.2f}–{max(span):.2f}" for label, span in spans.items())
        print(
            f"{name:22} {len(texts):3} {mean[0]:6.0f} {mean[1]:6.0f} {mean[2]:6.3f} {mean[3]:5.2f}  {tokens}"
        )


if __name__ == "__main__":
    main()
