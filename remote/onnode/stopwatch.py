"""One request to the engine, timed as closely as Python can.

The clock starts right before the one call that sends head and body, on a connection that is open already.
A time is taken as soon as ``recv`` returns, before a byte is looked at.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Callable, NamedTuple, Optional, Tuple

from .completion import Completion
from .failed_request import CONNECTION, TIMEOUT, FailedRequest
from .reply import Reply

TICK_S = 10.0
TICK_NS = int(TICK_S * 1e9)
CONNECT_TIMEOUT_S = 5.0
BUFFER_BYTES = 1 << 18
SEND_BUFFER_BYTES = 1 << 20


class Timed(NamedTuple):
    """A completed request."""

    sent_ns: int
    completion: Completion

    def ms(self, stamp_ns: int) -> float:
        """Milliseconds from the send to a time stamp."""
        return (stamp_ns - self.sent_ns) / 1e6


class Stopwatch:
    """Sends requests to one port of this machine, one at a time.

    Args:
        port: The engine's port on 127.0.0.1.
        timeout_s: A request that is not complete by then has failed.
        tick: Called about every ten seconds while a request is in flight.
    """

    def __init__(self, port: int, timeout_s: float, tick: Callable[[], None]) -> None:
        self._port = port
        self._timeout_s = timeout_s
        self._tick = tick
        self._buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self._buffer)

    def connect(self) -> socket.socket:
        """Open a connection. Used at once, while the engine is still awake from accepting it.

        Raises:
            FailedRequest: ``connection``.
        """
        try:
            connection = socket.create_connection(("127.0.0.1", self._port), CONNECT_TIMEOUT_S)
        except OSError as error:
            reason = error.strerror or str(error)
            raise FailedRequest(CONNECTION, "No connection to port %d: %s." % (self._port, reason)) from None
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        # A time limit of the kernel instead of Python's: that one asks poll() before every recv().
        connection.settimeout(None)
        _set_limit(connection, socket.SO_SNDTIMEO, self._timeout_s)
        _set_limit(connection, socket.SO_RCVTIMEO, min(TICK_S, self._timeout_s))
        return connection

    def exchange(
        self, connection: socket.socket, request: bytes, first_token: Callable[[int, Timed], None]
    ) -> Timed:
        """Send a request and follow its stream to the end.

        Args:
            connection: From :meth:`connect`; used once.
            request: Head and body.
            first_token: Called with its time stamp when the first token has come.

        Raises:
            FailedRequest: Any of its codes but ``prompt_tokens`` and ``no_token``, which the caller checks.
        """
        reply, told = Reply(), False
        timed = Timed(time.perf_counter_ns(), reply.completion)
        try:
            connection.sendall(request)
        except BlockingIOError:
            raise FailedRequest(TIMEOUT, "The engine did not take the request.") from None
        except OSError as error:
            raise FailedRequest(CONNECTION, "The request was not taken: %s." % error.strerror) from None
        deadline_ns = timed.sent_ns + int(self._timeout_s * 1e9)
        tick_ns = timed.sent_ns + TICK_NS
        while True:
            data, stamp_ns = self._receive(connection)
            if data is not None:
                complete = reply.feed(data, stamp_ns)
                if reply.completion.first_token_ns is not None and not told:
                    told = True
                    first_token(reply.completion.first_token_ns, timed)
                if complete:
                    return timed
            if stamp_ns >= deadline_ns:
                raise FailedRequest(TIMEOUT, _timeout_text(self._timeout_s, reply.completion))
            if stamp_ns >= tick_ns:
                self._tick()
                tick_ns = stamp_ns + TICK_NS
            if data is None:
                _set_limit(connection, socket.SO_RCVTIMEO, min(TICK_S, (deadline_ns - stamp_ns) / 1e9))

    def _receive(self, connection: socket.socket) -> Tuple[Optional[bytes], int]:
        """What came in (None: nothing for a while), and when."""
        try:
            size = connection.recv_into(self._buffer)
            stamp_ns = time.perf_counter_ns()
        except BlockingIOError:
            return None, time.perf_counter_ns()
        except OSError as error:
            raise FailedRequest(CONNECTION, "The connection broke: %s." % error.strerror) from None
        return bytes(self._view[:size]), stamp_ns


def _set_limit(connection: socket.socket, option: int, limit_s: float) -> None:
    # 0 would mean no limit at all.
    microseconds = max(1000, int(limit_s * 1e6))
    connection.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", *divmod(microseconds, 1000000)))


def _timeout_text(timeout_s: float, completion: Completion) -> str:
    what = "the first token" if completion.first_token_ns is None else "the end of the stream"
    return "After %g s %s had not come." % (timeout_s, what)
