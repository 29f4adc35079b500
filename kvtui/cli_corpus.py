"""``kvtui corpus``: build, show and check the documents that a run sends."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kvtui.cli_errors import ending
from kvtui.errors import ExitCode, PlanError
from kvtui.paths import places

if TYPE_CHECKING:
    from kvtui.corpus_command import Collection, Wish

app = typer.Typer(no_args_is_help=True)

Seed = Annotated[int, typer.Option(help="Seed of the generated documents.")]
Count = Annotated[int, typer.Option("--documents", min=1, help="How many documents to generate.")]
Tokens = Annotated[int, typer.Option(min=1, help="Length of a document in tokens.")]
Own = Annotated[Path | None, typer.Option(help="Your own documents: a folder, or a file of prompts.")]
Engine = Annotated[
    str | None, typer.Option(help="Engine whose tokenizer cuts, such as http://127.0.0.1:8000.")
]
Prefix = Annotated[
    int, typer.Option("--prefix-tokens", min=0, help="Shared system prompt before each document.")
]
Chunk = Annotated[int, typer.Option("--chunk-tokens", min=1, help="Tokens of a chunk.")]
Model = Annotated[Path | None, typer.Option(help="config.json of the model, for the KV bytes.")]
Json = Annotated[bool, typer.Option("--json", help="Print the data as JSON.")]


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _collect(wish: Wish) -> Collection:
    """Collect, with a fault of the documents as a sentence and the exit code of wrong usage."""
    from corpus.errors import CorpusError
    from kvtui.corpus_command import collect

    try:
        return collect(wish, _say)
    except CorpusError as error:
        raise ending(PlanError(error.message, error.hint), places().log) from error
    except BaseException as error:
        raise ending(error, places().log) from error


def _tell_problems(collection: Collection) -> None:
    from kvtui.corpus_tables import problems_text

    if collection.problems:
        _say(problems_text(collection.problems))
    if collection.reading is not None and collection.reading.requests:
        _say(
            f"{len(collection.reading.requests):,} requests of a trace carry no text; they are not documents."
        )


@app.command()
def build(
    folder: Annotated[Path, typer.Argument(help="Where the texts and the manifest go.")],
    seed: Seed = 0,
    documents: Count = 30,
    tokens: Tokens = 10_000,
    own: Own = None,
    engine: Engine = None,
    prefix_tokens: Prefix = 0,
    chunk_tokens: Chunk = 256,
    model: Model = None,
    as_json: Json = False,
) -> None:
    """Write the documents, their token ids where an engine is given, and the manifest; prints its path."""
    from corpus.errors import CorpusError
    from kvtui.corpus_command import Wish, save

    collection = _collect(Wish(seed, documents, tokens, own, engine, prefix_tokens, chunk_tokens, model))
    _tell_problems(collection)
    if not collection.documents:
        raise ending(PlanError("No document is left to write.", "See the reasons above."), places().log)
    try:
        path = save(collection, folder)
    except CorpusError as error:
        raise ending(PlanError(error.message, error.hint), places().log) from error
    _say(f"{len(collection.documents)} documents are in {folder}.")
    typer.echo(path.read_text(encoding="utf-8") if as_json else str(path), nl=not as_json)


@app.command()
def show(
    document: Annotated[
        str | None, typer.Argument(help="Id of a document to read; all as a table without.")
    ] = None,
    seed: Seed = 0,
    documents: Count = 30,
    tokens: Tokens = 10_000,
    own: Own = None,
    engine: Engine = None,
    prefix_tokens: Prefix = 0,
    chunk_tokens: Chunk = 256,
    model: Model = None,
    as_json: Json = False,
) -> None:
    """Print the manifest with its totals, or the text of one document."""
    from corpus import to_json
    from kvtui.corpus_command import Wish
    from kvtui.corpus_tables import manifest_text, reuse_text

    collection = _collect(Wish(seed, documents, tokens, own, engine, prefix_tokens, chunk_tokens, model))
    _tell_problems(collection)
    if document is None:
        typer.echo(to_json(collection.rows) if as_json else manifest_text(collection.rows), nl=not as_json)
        if collection.reuse and not as_json:
            typer.echo(f"\n{reuse_text(collection.reuse)}")
        return
    found = [item for item in collection.documents if item.document_id == document]
    if not found:
        known = (
            f"{collection.documents[0].document_id} … {collection.documents[-1].document_id}"
            if collection.documents
            else "none"
        )
        raise ending(PlanError(f"There is no document {document}.", f"There are: {known}."), places().log)
    typer.echo(json.dumps(asdict(found[0]), ensure_ascii=False) if as_json else found[0].text, nl=as_json)


@app.command()
def check(
    own: Annotated[
        Path | None, typer.Argument(help="Your own folder or file; the generated ones without.")
    ] = None,
    seed: Seed = 0,
    documents: Count = 30,
    tokens: Tokens = 10_000,
    engine: Engine = None,
    chunk_tokens: Chunk = 256,
    as_json: Json = False,
) -> None:
    """Say of every file what is wrong with it and what happens; ends with 5 when something is."""
    from corpus.own import expected_trace_hit_tokens
    from kvtui.corpus_command import Wish
    from kvtui.corpus_tables import problems_text

    collection = _collect(Wish(seed, documents, tokens, own, engine, 0, chunk_tokens))
    reading = collection.reading
    requests = () if reading is None else reading.requests
    hits = expected_trace_hit_tokens(requests, chunk_tokens)
    if as_json:
        data = {
            "form": "generated" if reading is None else reading.form,
            "documents": len(collection.documents),
            "trace_requests": len(requests),
            "trace_tokens": sum(request.input_tokens for request in requests),
            "trace_expected_hit_tokens": sum(hits),
            "problems": [asdict(problem) for problem in collection.problems],
        }
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False))
    elif collection.problems:
        typer.echo(problems_text(collection.problems))
    _say(f"{len(collection.documents)} documents can be used, {len(collection.problems)} problems.")
    if requests:
        whole = sum(request.input_tokens for request in requests)
        _say(f"{len(requests):,} requests of a trace: {whole:,} tokens, {sum(hits):,} to be found again.")
    if not engine:
        _say("Lengths in tokens and shared chunks are exact only with --engine.")
    if not collection.clean:
        raise typer.Exit(ExitCode.PREFLIGHT)
