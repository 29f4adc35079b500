"""What is uploaded to a node: the modules of :mod:`remote.onnode` as one file that Python can run."""

from __future__ import annotations

import functools
import hashlib
import io
import zipfile
from dataclasses import dataclass
from importlib import resources

_MAIN = "import sys\nfrom onnode.agent import main\nsys.exit(main(sys.argv[1:]))\n"
_OLDEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class NodePackage:
    """A runnable zip file, the same bytes for the same source.

    Attributes:
        file_name: Named after its content, so that a node never runs an older one.
    """

    data: bytes
    file_name: str

    @classmethod
    def of(cls, data: bytes) -> NodePackage:
        """The package with this content."""
        return cls(data, f"{hashlib.sha256(data).hexdigest()[:16]}.pyz")


@functools.cache
def node_package() -> NodePackage:
    """Pack the node's modules."""
    sources = {
        f"onnode/{entry.name}": entry.read_bytes()
        for entry in resources.files("remote.onnode").iterdir()
        if entry.name.endswith(".py")
    }
    sources["__main__.py"] = _MAIN.encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(sources):
            archive.writestr(zipfile.ZipInfo(name, _OLDEST_ZIP_DATE), sources[name], zipfile.ZIP_DEFLATED)
    return NodePackage.of(buffer.getvalue())
