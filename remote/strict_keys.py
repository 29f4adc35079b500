"""Whether a person's SSH configuration wants unknown host keys refused without a question."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Any

from asyncssh.config import SSHClientConfig

from remote.hosts import HostSpec

_OPTION = "StrictHostKeyChecking"


class _Config(SSHClientConfig):
    """With the one option that asyncssh (2.24, ``config.py``) passes over."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # It has no other way to know one more.
        self._handlers = {**self._handlers, _OPTION.lower(): (_OPTION, SSHClientConfig._set_string)}  # noqa: SLF001


def refuses_unknown(host: HostSpec) -> bool:
    """Whether ``StrictHostKeyChecking yes`` holds for a host.

    Raises:
        asyncssh.ConfigParseError: The configuration cannot be read.
    """
    if host.config is None:
        return False
    files: tuple[str | Path, ...] = host.config
    if not files:
        default = Path("~/.ssh/config").expanduser()
        files = (default,) if os.access(default, os.R_OK) else ()
    user: Any = () if host.username is None else host.username
    port: Any = () if host.port is None else host.port
    config = _Config.load(None, list(files), False, False, False, getpass.getuser(), user, host.address, port)
    return str(config.get(_OPTION)).lower() == "yes"
