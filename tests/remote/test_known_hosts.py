"""Whatever stands in ``known_hosts``, in a ProxyJump or in an OpenSSH configuration, nothing breaks."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import asyncssh
from hypothesis import given, settings
from hypothesis import strategies as st

from remote.errors import NodeUnreachable
from remote.hosts import HostSpec
from remote.known_hosts import KnownHosts, entry_name, fingerprint
from remote.route import jump_host

KEY = asyncssh.generate_private_key("ssh-ed25519")
PUBLIC = KEY.export_public_key().decode().strip()
NAMES = st.text("abc*?!|,[]:1/@#= ", max_size=12)
ENDS = st.sampled_from(
    [PUBLIC, PUBLIC[:-9], "ssh-rsa AAAA", "ssh-ed25519", "x509v3-sign-rsa subject CN=a", ""]
)
LINES = st.one_of(
    st.text(max_size=40),
    st.builds("{}{} {}".format, st.sampled_from(["", "@revoked ", "@cert-authority ", "@x "]), NAMES, ENDS),
    st.builds("|1|{}|{} {}".format, NAMES, NAMES, ENDS),
)
HOSTS = st.sampled_from(["a", "10.0.0.1", "::1", "a.b"])
PORTS = st.sampled_from([22, 2222])


@settings(max_examples=60)
@given(st.lists(LINES, max_size=5), HOSTS, PORTS)
def test_any_file_is_read_and_added_to(lines: list[str], host: str, port: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "ssh", "known_hosts")
        known = KnownHosts((str(path), os.path.join(directory, "missing")))
        assert known.keys_of(host, "", port) == ()
        known.load()
        path.parent.mkdir()
        path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
        before = known.keys_of(host, "", port)
        known.load().match(host, "", port if port != 22 else None)
        known.add(host, port, KEY)
        added = [key for key in known.keys_of(host, "", port) if key not in before]
        assert [(key.fingerprint, key.revoked) for key in added] == [(fingerprint(KEY), False)]
        trusted = known.load().match(host, "", port if port != 22 else None)[0]
        assert KEY.convert_to_public() in trusted


@given(st.text(max_size=30))
def test_any_jump_host_is_read_or_refused(jump: str) -> None:
    with contextlib.suppress(NodeUnreachable):
        assert jump_host(jump, HostSpec.from_alias("gpu")).address


def test_how_a_host_is_called() -> None:
    assert (entry_name("a", 22), entry_name("::1", 2222)) == ("a", "[::1]:2222")
