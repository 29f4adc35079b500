"""``kvtui nodes``: the nodes that kvtui knows, and what they are made of."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kvtui.cli_errors import exit_code, finish
from kvtui.errors import ExitCode
from kvtui.loglines import clean
from kvtui.paths import places

if TYPE_CHECKING:
    from kvtui.hosts_file import NodeEntry
    from kvtui.services.hosts import HostsStore, KnownNode
    from kvtui.services.probe import Probed
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
        probe(None)


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
    as_json: JsonOption = False,
) -> None:
    """Ask nodes what they are made of, all at once; ends with 3 when one cannot be reached."""
    from kvtui.asking import terminal_asker
    from kvtui.nodefacts import NodeFacts
    from kvtui.progress import Progress
    from kvtui.services.probe import chosen, links_to
    from kvtui.services.probe import probe as ask

    async def look() -> tuple[Probed, ...]:
        progress, answered = Progress(sys.stderr), set[str]()
        wanted = chosen(_load(), names or ())

        def told(name: str, _: object) -> None:
            answered.add(name)
            progress.phase(f"{len(answered)} of {len(wanted)} nodes are through")

        async with links_to(wanted, terminal_asker()) as links:
            found = await ask(wanted, links, told)
        if found:
            ready = sum(1 for one in found if isinstance(one.found, NodeFacts))
            progress.say(f"{ready} of {len(found)} nodes are ready.")
        return found

    probed = finish(look())
    if as_json:
        typer.echo(json.dumps([_probed_json(one) for one in probed], ensure_ascii=False))
    elif probed:
        typer.echo(_probed_text(probed, with_details=bool(names)))
    else:
        typer.echo(NOTHING, err=True)
    _end(probed)


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


def _probed_json(one: Probed) -> dict[str, Any]:
    from kvtui.nodefacts import NodeFacts
    from kvtui.services.probe import state_word

    found = one.found
    ready = isinstance(found, NodeFacts)
    return {
        "name": one.node.entry.name,
        "ssh": one.node.entry.ssh,
        "state": state_word(found),
        "facts": found.to_json() if isinstance(found, NodeFacts) else None,
        "error": None if ready else str(found),
    }


def _probed_text(probed: tuple[Probed, ...], *, with_details: bool) -> str:
    from kvtui.node_tables import details_text, probed_text
    from kvtui.nodefacts import NodeFacts
    from kvtui.services.probe import state_word

    facts = [(one, one.found if isinstance(one.found, NodeFacts) else None) for one in probed]
    parts = [probed_text((one.node.entry, state_word(one.found), found) for one, found in facts)]
    if with_details:
        parts += [details_text(found) for _, found in facts if found is not None]
    return "\n\n".join(parts)


def _end(probed: tuple[Probed, ...]) -> None:
    """Say why nodes could not be read, and end with the code of the worst."""
    from kvtui.nodefacts import NodeFacts

    failures: list[RemoteError] = [one.found for one in probed if not isinstance(one.found, NodeFacts)]
    for failure in failures:
        typer.echo(" ".join(clean(str(failure)).split()), err=True)
    if failures:
        codes = [exit_code(failure) for failure in failures]
        raise typer.Exit(ExitCode.UNREACHABLE if ExitCode.UNREACHABLE in codes else codes[0])
