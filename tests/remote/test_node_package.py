"""What a node gets runs on every Python from 3.8 on, with nothing but the standard library."""

from __future__ import annotations

import ast
import io
import sys
import zipfile
from pathlib import Path

import pytest

import remote.onnode
from remote.node_package import NodePackage, node_package

MODULES = sorted(Path(remote.onnode.__path__[0]).glob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_is_python_3_8_and_needs_only_the_standard_library(path: Path) -> None:
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None
            assert node.module.split(".")[0] in sys.stdlib_module_names


def test_the_package_holds_every_module_and_is_always_the_same() -> None:
    package = node_package()
    names = zipfile.ZipFile(io.BytesIO(package.data)).namelist()
    assert names == ["__main__.py", *(f"onnode/{path.name}" for path in MODULES)]
    node_package.cache_clear()
    assert node_package() == package


def test_another_content_has_another_name() -> None:
    assert NodePackage.of(b"a").file_name != NodePackage.of(b"b").file_name
