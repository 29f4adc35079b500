"""A corpus as text for a terminal: plain columns, one unit each."""

from __future__ import annotations

from collections.abc import Sequence

from corpus import ManifestRow, totals
from corpus.own import Problem
from corpus.prefix import ExpectedReuse

DASH = "–"


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    """Rows under a head, each column as wide as it must be; those numbered in ``right`` end at the right."""
    table = [list(head), *[list(row) for row in rows]]
    widths = [max(len(row[place]) for row in table) for place in range(len(head))]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def number(value: int | None) -> str:
    """A whole number with commas, or a dash where it is not known."""
    return DASH if value is None else f"{value:,}"


def mebibytes(value: int | None) -> str:
    """Bytes as MiB, or a dash where they are not known."""
    return DASH if value is None else f"{value / 2**20:,.1f}"


def manifest_text(rows: Sequence[ManifestRow]) -> str:
    """The manifest with its totals."""
    whole = totals(rows)
    body = [
        (
            row.document_id, row.kind, number(row.characters), number(row.words), number(row.tokens),
            number(row.chunks), mebibytes(row.kv_bytes), row.sha256[:12], row.title[:60],
        )
        for row in rows
    ]  # fmt: skip
    last = (
        f"{whole.documents} in all", "", number(whole.characters), number(whole.words), number(whole.tokens),
        number(whole.chunks), mebibytes(whole.kv_bytes), "", "KV of all is the working set",
    )  # fmt: skip
    head = ("Document", "Kind", "Characters", "Words", "Tokens", "Chunks", "KV MiB", "SHA-256", "Title")
    return columns(head, [*body, last], right=(2, 3, 4, 5, 6))


def problems_text(problems: Sequence[Problem]) -> str:
    """A line for each problem: where, what, and what happens."""
    rows = [(problem.source, problem.code, problem.outcome, problem.message) for problem in problems]
    return columns(("Source", "Problem", "Outcome", "Why"), rows, right=())


def reuse_text(reuse: Sequence[ExpectedReuse]) -> str:
    """What a shared system prompt should give back, a line a request."""
    rows = [
        (
            item.document_id,
            number(item.prompt_tokens),
            number(item.cold_hit_tokens),
            number(item.cached_hit_tokens),
        )
        for item in reuse
    ]
    head = ("Document", "Prompt tokens", "Expected hit, cold", "Expected hit, cached")
    return columns(head, rows, right=(1, 2, 3))
