"""``hosts.toml``: what is written is read back equal; what is wrong is named with its line."""

from __future__ import annotations

import contextlib
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvtui.hosts_file import (
    HostsError,
    NodeEntry,
    Role,
    field_fault,
    format_hosts,
    make_entry,
    named,
    parse_hosts,
    with_added,
    with_changed,
    without,
)
from kvtui.ssh_place import Place, parse_place

NAMES = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True)
PRINTABLE = st.text(
    st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=30
)
PLACES = st.one_of(
    NAMES,
    st.builds("{}@{}:{}".format, NAMES, NAMES, st.integers(1, 65535)),
    st.builds("[{}]:{}".format, st.ip_addresses(v=6), st.integers(1, 65535)),
    st.builds("root@{}".format, st.ip_addresses(v=6)),
)
ENTRIES = st.builds(
    NodeEntry,
    name=NAMES,
    ssh=PLACES,
    roles=st.lists(st.sampled_from(Role), min_size=1, max_size=3).map(tuple),
    engine_python=PRINTABLE,
    model_roots=st.lists(PRINTABLE, max_size=3).map(tuple),
    hourly_price=st.none() | st.floats(min_value=0, allow_infinity=False),
    identity_file=st.none() | PRINTABLE,
)


@given(st.lists(ENTRIES, max_size=3, unique_by=lambda entry: entry.name).map(tuple))
def test_what_is_written_is_read_back_equal(entries: tuple[NodeEntry, ...]) -> None:
    assert parse_hosts(format_hosts(entries), "hosts.toml") == entries


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(HostsError):
        parse_hosts(text, "hosts.toml")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.sampled_from([*NodeEntry.model_fields, "other"]), VALUES)
def test_no_value_of_a_field_raises_anything_else(field: str, value: object) -> None:
    fault = field_fault(field, value)
    fields = {"name": "x", "ssh": "x", field: value}
    if fault is None:
        entry = make_entry(fields)
        assert parse_hosts(format_hosts([entry]), "hosts.toml") == (entry,)
    else:
        with pytest.raises(HostsError):
            make_entry(fields)


@given(st.text())
def test_a_place_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        place = parse_place(text)
        assert place.address
        assert place.port is None or 0 < place.port < 65536


@pytest.mark.parametrize(
    ("ssh", "place"),
    [
        ("gpu-a", Place("gpu-a")),
        ("ann@10.0.0.1:2222", Place("10.0.0.1", 2222, "ann")),
        ("[::1]:22", Place("::1", 22)),
        ("ann@[fe80::1%eth0]:22", Place("fe80::1%eth0", 22, "ann")),
        ("ann@2001:db8::1", Place("2001:db8::1", None, "ann")),
    ],
)
def test_places(ssh: str, place: Place) -> None:
    assert parse_place(ssh) == place


@pytest.mark.parametrize("ssh", ["", "a b", "a:", "a:0", "a:70000", "a:b:c", "[a]:22", "a@b@c", "a\x1b[2J"])
def test_no_places(ssh: str) -> None:
    with pytest.raises(ValueError, match="neither an SSH alias nor"):
        parse_place(ssh)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[nodes.a]\nssh = 'a'\n[nodes.b]\nssh = 'b'\nrolse = ['gpu']\n",
            "h:5: nodes.b.rolse: unknown field.",
        ),
        ("[nodes.a]\n\nssh = 'a b'\n", "h:3: nodes.a.ssh: 'a b' is neither an SSH alias nor"),
        ("[nodes.a]\nroles = ['gpu']\n", "h:1: nodes.a.ssh: needed."),
        ("\n[nodes.a]\nssh = 'a'\nname = 'b'\n", "h:4: nodes.a.name: unknown field."),
        ("[nodes.a]\nssh = 'a'\nroles = ['cpu']\n", 'h:3: nodes.a.roles: gpu or store, not the text "cpu".'),
        ("[nodes.a]\nssh = 'a'\nhourly_price = -1\n", "h:3: nodes.a.hourly_price: 0 or more."),
        ("[nodes.a]\nssh = 'a'\n[node.b]\n", "h:3: node: unknown field."),
        ("theme = 'x'\n", "h:1: theme: unknown field."),
        ("nodes = 3\n", "h:1: nodes: it is no table."),
        ("[nodes.a]\nssh = \n", "h:2: this is not TOML"),
        ("[nodes.a]\nssh = 'a'\n[nodes.a]\nssh = 'a'\n", "h:3: this is not TOML"),
        ("[nodes.Big]\nssh = 'a'\n", "h:1: nodes.Big.name: small letters, digits and single dashes"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, sentence: str) -> None:
    with pytest.raises(HostsError) as caught:
        parse_hosts(text, "h")
    assert caught.value.message.startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_file_of_a_person() -> None:
    text = '[nodes.gpu-a]\nssh = "ann@10.0.0.1"\nroles = ["store", "gpu"]\nhourly_price = 3\n'
    [entry] = parse_hosts(text, "h")
    assert entry.roles == (Role.GPU, Role.STORE)
    assert entry.hourly_price == 3.0
    assert tomllib.loads(format_hosts([entry])) == {
        "nodes": {"gpu-a": {"ssh": "ann@10.0.0.1", "roles": ["gpu", "store"], "hourly_price": 3.0}}
    }


def test_changes() -> None:
    a, b = NodeEntry(name="a", ssh="one"), NodeEntry(name="b", ssh="one")
    assert with_added((a,), b) == (a, b)
    c = b.model_copy(update={"name": "c"})
    assert with_changed((a, b), "b", c) == (a, c)
    assert without((a, b), "a") == (b,)
    assert named((a, b), "b") is b
    with pytest.raises(HostsError, match="There is a node a already"):
        with_added((a, b), a)
    with pytest.raises(HostsError, match="There is a node a already"):
        with_changed((a, b), "b", a)
    with pytest.raises(HostsError, match="There is no node 'x'; known are: a, b"):
        without((a, b), "x")
