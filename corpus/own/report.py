"""What was read, and what was wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.document import Document
from corpus.own.trace import TraceRequest


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should know about a file.

    Attributes:
        source: The file, with ``:line`` or ``:number`` where it holds several texts.
        code: A word for programs, such as ``empty`` or ``duplicate``.
        message: What is the matter, in one sentence.
        outcome: What happens to the text: ``left out`` or ``kept``.
    """

    source: str
    code: str
    message: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The documents and trace requests of a folder or file, with all problems.

    Attributes:
        form: What was found, such as ``folder``, ``ShareGPT JSON`` or ``Mooncake-style trace``.
        sha256: Digest of the names and bytes of all files that could be read, in hex.
    """

    form: str
    documents: tuple[Document, ...]
    requests: tuple[TraceRequest, ...]
    problems: tuple[Problem, ...]
    sha256: str
