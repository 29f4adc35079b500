"""Errors of asyncssh and the operating system, in words."""

from __future__ import annotations

import errno
import os
import socket

import asyncssh
import pytest

from remote.hosts import HostSpec
from remote.ssh_errors import explain

HOST = HostSpec(name="gpu-a", address="10.0.0.7")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.EHOSTUNREACH, os.strerror(errno.EHOSTUNREACH)), "cannot be reached: no route to it."),
        (OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH)), "cannot be reached: no network."),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed"), "refuses SSH connections."),
        (
            OSError("Multiple exceptions: [Errno 111] (::1), [Errno 111] (127.0.0.1)"),
            "refuses SSH connections.",
        ),
        (TimeoutError(), "did not answer."),
        (asyncssh.ChannelOpenError(2, "open failed"), "opens no further channel: open failed."),
    ],
)
def test_a_sentence_and_what_to_do(error: Exception, message: str) -> None:
    explained = explain(error, HOST)
    assert explained.message == f"gpu-a (10.0.0.7) {message}"
    assert explained.hint.endswith(("?", "."))


def test_a_name_that_nobody_knows() -> None:
    explained = explain(socket.gaierror(socket.EAI_NONAME, "Name or service not known"), HOST)
    assert explained.message == "gpu-a (10.0.0.7): the host name 10.0.0.7 is not known."


def test_a_lost_connection() -> None:
    explained = explain(asyncssh.ConnectionLost("Connection lost"), HOST)
    assert explained.message == "The connection to gpu-a (10.0.0.7) was lost: Connection lost."


@pytest.mark.parametrize(
    ("host", "label"),
    [
        (HostSpec.from_alias("my-gpu"), "my-gpu"),
        (HOST, "gpu-a (10.0.0.7)"),
        (HostSpec(name="gpu-a", address="10.0.0.7", port=2222), "gpu-a (10.0.0.7:2222)"),
    ],
)
def test_the_label_of_a_host(host: HostSpec, label: str) -> None:
    assert host.label == label
