"""``kvtui nodes`` as a person and a script use it, without a node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kvtui.cli_nodes import app
from kvtui.paths import places
from remote.ssh_aliases import ssh_aliases

RUNNER = CliRunner()
pytestmark = pytest.mark.usefixtures("own_places")


def entries() -> dict[str, dict[str, object]]:
    result = RUNNER.invoke(app, ["list", "--json"])
    assert result.exit_code == 0, result.stderr
    return {entry["name"]: entry for entry in json.loads(result.stdout)}


@pytest.mark.parametrize("arguments", [[], ["list"], ["probe"]])
def test_without_nodes_it_says_where_to_begin(arguments: list[str]) -> None:
    result = RUNNER.invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "kvtui nodes add NAME SSH" in result.stderr
    assert "kvtui launch" in result.stderr
    assert json.loads(RUNNER.invoke(app, ["list", "--json"]).stdout) == []


def test_add_list_edit_remove() -> None:
    options = ["--role", "gpu", "--role", "store", "--hourly-price", "3.5", "--model-root", "~/models"]
    result = RUNNER.invoke(app, ["add", "gpu-a", "ann@10.0.0.1", *options])
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert "kvtui nodes probe gpu-a" in result.stderr
    entry = entries()["gpu-a"]
    assert (entry["roles"], entry["hourly_price"], entry["model_roots"]) == (
        ["gpu", "store"],
        3.5,
        ["~/models"],
    )
    assert entry["source"] == "hosts"
    changes = ["--name", "gpu-b", "--ssh", "[::1]:22", "--hourly-price", "", "--role", "gpu"]
    assert RUNNER.invoke(app, ["edit", "gpu-a", *changes]).exit_code == 0
    entry = entries()["gpu-b"]
    assert (entry["ssh"], entry["roles"], entry["hourly_price"]) == ("[::1]:22", ["gpu"], None)
    assert entry["model_roots"] == ["~/models"]
    assert "[::1]:22" in RUNNER.invoke(app, ["list"]).stdout
    assert RUNNER.invoke(app, ["remove", "gpu-b"]).exit_code == 0
    assert entries() == {}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["add", "gpu-a", "a b"], "ssh: 'a b' is neither an SSH alias nor user@host:port."),
        (["add", "Gpu", "a"], "name: small letters, digits and single dashes"),
        (["add", "gpu-a", "a", "--role", "cpu"], 'roles: gpu or store, not the text "cpu".'),
        (["add", "gpu-a", "a", "--hourly-price", "much"], 'hourly_price: a number, not the text "much".'),
        (["add", "taken", "a"], "There is a node taken already."),
        (["edit", "gpu-x", "--ssh", "a"], "There is no node 'gpu-x'; known are: taken."),
        (["edit", "taken", "--ssh", ""], "ssh: needed."),
        (["remove", "gpu-x"], "There is no node 'gpu-x'; known are: taken."),
        (["probe", "gpu-x"], "'gpu-x' is neither a node nor an SSH alias; known are: taken."),
    ],
)
def test_wrong_usage_is_a_sentence(arguments: list[str], sentence: str) -> None:
    assert RUNNER.invoke(app, ["add", "taken", "a"]).exit_code == 0
    result = RUNNER.invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert list(entries()) == ["taken"]


def test_a_broken_file_is_named_with_its_line() -> None:
    path = places().config / "hosts.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[nodes.a]\nssh = 'a'\nrole = 'gpu'\n")
    for arguments in (["list"], ["probe"], ["add", "b", "b"]):
        result = RUNNER.invoke(app, arguments)
        assert result.exit_code == 2
        assert f"{path}:3: nodes.a.role: unknown field." in result.stderr


def test_aliases_of_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert ssh_aliases() == ()
    (tmp_path / ".ssh" / "conf.d").mkdir(parents=True)
    (tmp_path / ".ssh" / "config").write_text(
        'Include conf.d/*.conf\nHost gpu-a "gpu b" # both\n  HostName 10.0.0.1\nhost=gpu-c\n'
        "Host *.lan !gpu-d gpu-?\nMatch host x\nHost 'unclosed\nInclude config\n"
    )
    (tmp_path / ".ssh" / "conf.d" / "one.conf").write_text("HOST = bastion\n")
    assert ssh_aliases() == ("bastion", "gpu-a", "gpu b", "gpu-c")
