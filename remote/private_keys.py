"""The user's private keys: which have a passphrase, and their unlocking in memory."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable
from pathlib import Path

import asyncssh

from remote.asking import Asker

KeyPairs = tuple[asyncssh.SSHKeyPair, ...]
ATTEMPTS = 3
# Names that OpenSSH tries without being told, in its order.
DEFAULTS = ("id_rsa", "id_ecdsa", "id_ed25519")


def default_files() -> tuple[str, ...]:
    """The key files that every OpenSSH client tries, as far as they exist."""
    paths = [Path("~/.ssh", name).expanduser() for name in DEFAULTS]
    return tuple(str(path) for path in paths if path.exists())


def is_locked(file: str) -> bool:
    """Whether a file holds a private key that has a passphrase."""
    try:
        asyncssh.import_private_key(Path(file).expanduser().read_bytes())
    except asyncssh.KeyImportError as error:
        return str(error).startswith("Passphrase")
    except (OSError, ValueError):
        return False
    return False


def in_memory(asker: Asker | None, files: Iterable[str]) -> list[asyncssh.SSHKeyPair]:
    """The keys of these files that were unlocked before."""
    if asker is None:
        return []
    # A connection sets the signature algorithm on its own copy.
    return [copy.copy(pair) for file in files for pair in asker.unlocked.get(file, ())]


async def unlock(asker: Asker, file: str) -> bool:
    """Ask for a key's passphrase, up to three times; whether the key is in memory now."""

    async def ask() -> bool:
        for attempt in range(1, ATTEMPTS + 1):
            passphrase = await asker.passphrase(file, attempt)
            if passphrase is None:
                return False
            if pairs := await asyncio.to_thread(_unlocked, file, passphrase):
                asker.unlocked[file], asker.passphrases[file] = pairs, passphrase
                return True
        return False

    return await asker.once(file, lambda: file in asker.unlocked, ask)


def _unlocked(file: str, passphrase: str) -> KeyPairs:
    try:
        return tuple(asyncssh.load_keypairs(str(Path(file).expanduser()), passphrase))
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError):
        return ()
