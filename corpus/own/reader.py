"""Reading a folder or a file: every text becomes a document or a problem, never nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.document import Document
from corpus.errors import CorpusError
from corpus.folder import companions
from corpus.own.formats import TRACE, Unusable, form_of, name_of, request_of, text_of
from corpus.own.prompt import Prompt
from corpus.own.report import Problem, Reading
from corpus.own.trace import TraceRequest

SUFFIXES = (".txt", ".md", ".jsonl", ".json")


def read(path: Path) -> Reading:
    """Read own documents from a folder, in the order of their names, or from one file.

    Raises:
        CorpusError: There is no such folder or file, or the folder has no file of a known kind.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        beside = {folder: companions(folder) for folder in {file.parent for file in files}}
        files = [file for file in files if file.name not in beside[file.parent]]
        if not files:
            raise CorpusError(
                f"The folder {path} holds no document.", f"Put {', '.join(SUFFIXES)} files into it."
            )
        root, form = path, "folder"
    elif path.is_file():
        files, root, form = [path], path.parent, ""
    else:
        raise CorpusError(f"There is no folder or file {path}.", "Check the path.")
    state = _State()
    for file in files:
        _file(state, file, file.relative_to(root).as_posix())
    form = form or " and ".join(dict.fromkeys(state.forms)) or "no known format"
    return Reading(
        form, tuple(state.documents), tuple(state.requests), tuple(state.problems), state.digest.hexdigest()
    )


class _State:
    """What has been read so far."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.requests: list[TraceRequest] = []
        self.problems: list[Problem] = []
        self.forms: list[str] = []
        self.digest = hashlib.sha256()

    def leave_out(self, source: str, code: str, message: str) -> None:
        self.problems.append(Problem(source, code, message, "left out"))

    def take(self, form: str, prompt: Prompt) -> None:
        self.forms.append(form)
        if not prompt.text.strip():
            self.leave_out(prompt.source, "empty", "It has no text.")
            return
        if not _encodes(prompt.text):
            self.leave_out(prompt.source, "not-utf-8", "It holds half a character (a lone surrogate).")
            return
        number = len(self.documents) + 1
        title = prompt.name if prompt.name and _encodes(prompt.name) else prompt.source
        self.documents.append(Document(f"own-{number:03d}", "own", form, title, prompt.text))


def _file(state: _State, file: Path, source: str) -> None:
    try:
        data = file.read_bytes()
        state.digest.update(f"{source}\0{hashlib.sha256(data).hexdigest()}\n".encode())
        # A byte order mark is no part of the text; line ends are, since tokenizers tell them apart.
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        state.leave_out(source, "not-utf-8", f"It is not UTF-8: byte {error.start:,} cannot be decoded.")
        return
    except OSError as error:
        state.leave_out(source, "unreadable", f"It cannot be read: {error.strerror or error}.")
        return
    suffix = file.suffix.lower()
    if suffix in (".txt", ".md"):
        state.take("text" if suffix == ".txt" else "Markdown", Prompt(source, "", text))
    elif not text.strip():
        state.leave_out(source, "empty", "It has no text.")
    else:
        for place, record in _records(state, source, suffix, text):
            _record(state, place, record)


def _records(state: _State, source: str, suffix: str, text: str) -> Iterator[tuple[str, Any]]:
    """The records of a JSON or JSON Lines file with their places; what cannot be parsed is reported."""
    if suffix == ".json":
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            state.leave_out(source, "bad-json", f"It is not JSON: {_why(error)}.")
            return
        for number, record in enumerate(data if isinstance(data, list) else [data], 1):
            yield f"{source}:{number}", record
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            state.leave_out(f"{source}:{number}", "bad-json", f"The line is not JSON: {_why(error)}.")
            continue
        yield f"{source}:{number}", record


def _why(error: Exception) -> str:
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)


def _encodes(text: str) -> bool:
    """Whether a tokenizer, or a file, can take the text: JSON can name halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _record(state: _State, source: str, record: Any) -> None:
    form = form_of(record)
    if form is None:
        state.leave_out(
            source, "unknown-format", "It has none of: text, prompt, conversations, body, hash_ids."
        )
        return
    try:
        if form == TRACE:
            state.forms.append(form)
            state.requests.append(request_of(source, record))
        else:
            state.take(form, Prompt(source, name_of(record), text_of(form, record)))
    except Unusable as error:
        state.leave_out(source, error.code, error.message)
