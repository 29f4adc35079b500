"""``kvtui nodes``: the nodes that kvtui knows, and what they are made of."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvtui.cli_errors import exit_code, finish
from kvtui.errors import ExitCode
from kvtui.loglines import clean
from kvtui.paths import places

if TYPE_CHECKING:
    from kvtui.hosts_file import NodeEntry
    from kvtui.services.hosts import HostsStore, KnownNode
    from remote.errors import RemoteError

app = typer.Typer()

Name = Annotated[str, typer.Argument(help="What plans call the node.")]
Roles = Annotated[list[str] | None, typer.Option("--role", help="gpu or store; give both where it is both.")]
Python = Annotated[
    str | None, typer.Option("--engine-python", help="Python of the environment with vLLM and LMCache.")
]
Roots = Annotated[
    list[str] | None, typer.Option("--model-root", help="Folder on the node with models; may be repeated.")
]
Price = Annotated[
    str | None, typer.Option("--hourly-price", help="What an hour of it costs, in whatever currency.")
]
Identity = Annotated[
    str | None, typer.Option("--identity-file", help="The private key to log in with, and no other.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]
NOTHING = (
    "No nodes are known yet. Add one with: kvtui nodes add NAME SSH, "
    "or see a real run on this machine with: kvtui launch"
)


@app.callback(invoke_without_command=True)
def nodes(context: typer.Context) -> None:
    """The nodes that kvtui knows; without a command, all of them are probed."""
    if context.invoked_subcommand is None:
        probe()


@app.command("list")
def list_nodes(as_json: JsonOption = False) -> None:
    """Print the nodes as they were entered, and the lab's while it is up."""
    from kvtui.node_tables import entries_text

    known = _known()
    if as_json:
        typer.echo(json.dumps([_entry_json(node) for node in known], ensure_ascii=False))
    elif known:
        typer.echo(entries_text((node.entry, _source(node)) for node in known))
    if not known:
        typer.echo(NOTHING, err=True)


@app.command()
def probe(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Nodes or SSH aliases; all without one.")
    ] = None,
    ceilings: Annotated[
        bool,
        typer.Option("--ceilings", help="Measure memory, disk and the way to the store."),
    ] = False,
    plan: Annotated[
        Path | None, typer.Option(help="Measure with this plan's chunk, path, store and workers.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask nodes what they are made of, all at once; ends with 3 when one cannot be reached."""
    from kvtui.nodes_command import NodesWish, look, looked_text
    from kvtui.progress import Progress

    wish = NodesWish(tuple(names or ()), ceilings or plan is not None, plan)
    looked = finish(look(wish, places(), Progress(sys.stderr)))
    if as_json:
        typer.echo(json.dumps([one.to_json() for one in looked], ensure_ascii=False))
    elif looked:
        typer.echo(looked_text(looked, with_details=bool(names)))
    else:
        typer.echo(NOTHING, err=True)
    _end([failure for one in looked for failure in one.failures])


@app.command()
def add(
    name: Name,
    ssh: Annotated[str, typer.Argument(help="An alias of ~/.ssh/config, or user@host:port.")],
    role: Roles = None,
    engine_python: Python = None,
    model_root: Roots = None,
    hourly_price: Price = None,
    identity_file: Identity = None,
) -> None:
    """Add a node to hosts.toml."""
    from kvtui.hosts_file import make_entry

    async def save() -> None:
        fields = _fields(role, engine_python, model_root, hourly_price, identity_file)
        _store().add(make_entry({"name": name, "ssh": ssh, **fields}))

    finish(save())
    typer.echo(f"Node {name} is in {_store().path}. Ask it with: kvtui nodes probe {name}", err=True)


@app.command()
def edit(
    name: Name,
    ssh: Annotated[str | None, typer.Option(help="An alias of ~/.ssh/config, or user@host:port.")] = None,
    new_name: Annotated[str | None, typer.Option("--name", help="Another name.")] = None,
    role: Roles = None,
    engine_python: Python = None,
    model_root: Roots = None,
    hourly_price: Price = None,
    identity_file: Identity = None,
) -> None:
    """Change a node in hosts.toml; an empty value takes a field out."""
    from kvtui.hosts_file import make_entry, named

    async def save() -> None:
        store = _store()
        given = _fields(role, engine_python, model_root, hourly_price, identity_file)
        given |= {field: value for field, value in (("name", new_name), ("ssh", ssh)) if value is not None}
        before = named(store.load(), name).model_dump(exclude_defaults=True)
        kept = {field: value for field, value in {**before, **given}.items() if value not in ("", [""])}
        store.edit(name, make_entry(kept))

    finish(save())
    typer.echo(f"Node {new_name or name} is changed.", err=True)


@app.command()
def remove(name: Name) -> None:
    """Take a node out of hosts.toml; nothing changes on the node."""

    async def save() -> None:
        _store().remove(name)

    finish(save())
    typer.echo(f"Node {name} is removed.", err=True)


def _store() -> HostsStore:
    from kvtui.services.hosts import HostsStore

    return HostsStore(places().config)


def _load() -> tuple[KnownNode, ...]:
    from kvtui.services.hosts import known_nodes

    return known_nodes(places())


def _known() -> tuple[KnownNode, ...]:
    async def load() -> tuple[KnownNode, ...]:
        return _load()

    return finish(load())


def _fields(
    role: list[str] | None,
    engine_python: str | None,
    model_root: list[str] | None,
    hourly_price: str | None,
    identity_file: str | None,
) -> dict[str, Any]:
    """The fields of a node that were given."""
    fields = {
        "roles": role,
        "engine_python": engine_python,
        "model_roots": model_root,
        "hourly_price": _number(hourly_price),
        "identity_file": identity_file,
    }
    return {field: value for field, value in fields.items() if value is not None and value != []}


def _number(text: str | None) -> float | str | None:
    """The number that a text is; other text as it is, for the sentence about it."""
    try:
        return float(text or "")
    except ValueError:
        return text


def _source(node: KnownNode) -> str:
    return "lab" if node.lab else "hosts.toml"


def _entry_json(node: KnownNode) -> dict[str, Any]:
    return {**_dumped(node.entry), "source": "lab" if node.lab else "hosts"}


def _dumped(entry: NodeEntry) -> dict[str, Any]:
    return entry.model_dump(mode="json")


def _end(failures: list[RemoteError]) -> None:
    """Say what could not be had, and end with the code of the worst."""
    for failure in failures:
        typer.echo(" ".join(clean(str(failure)).split()), err=True)
    codes = [exit_code(failure) for failure in failures]
    if codes:
        raise typer.Exit(ExitCode.UNREACHABLE if ExitCode.UNREACHABLE in codes else codes[0])
