"""The engine's answer to one request: HTTP outside, an event stream within, a completion inside that."""

from __future__ import annotations

from .completion import Completion
from .event_stream import EventStream
from .failed_request import CONNECTION, HTTP, PROTOCOL, FailedRequest
from .http_response import HttpResponse

OK = 200
REFUSAL_LIMIT_BYTES = 2000


class Reply:
    """Takes what is received, and fills a completion."""

    def __init__(self) -> None:
        self.completion = Completion()
        self._response = HttpResponse()
        self._stream = EventStream()
        self._refusal = b""

    def feed(self, data: bytes, received_ns: int) -> bool:
        """Take what was received (nothing: the connection ended); whether the answer is complete.

        Raises:
            FailedRequest: ``http``, ``stream_error``, ``connection`` or ``protocol``.
        """
        if not data:
            self._connection_ended()
            return True
        body = self._response.feed(data)
        if self._response.status == OK:
            for message in self._stream.feed(body, received_ns):
                self.completion.take(message)
            if self._response.complete and not self.completion.ended:
                self._check_end()
            return self.completion.ended or self._response.complete
        self._refusal += body
        if self._response.complete or len(self._refusal) > REFUSAL_LIMIT_BYTES:
            raise self._refused()
        return False

    def _connection_ended(self) -> None:
        if self._response.status is None:
            raise FailedRequest(CONNECTION, "The engine closed the connection before it answered.")
        if self._response.status != OK:
            raise self._refused()
        if not self._response.until_close:
            raise FailedRequest(CONNECTION, "The engine closed the connection in the middle of its answer.")
        self._check_end()

    def _check_end(self) -> None:
        if self.completion.first_token_ns is not None and self.completion.finish_reason is None:
            raise FailedRequest(PROTOCOL, "The stream ended in the middle of the text.")

    def _refused(self) -> FailedRequest:
        text = self._refusal.decode("utf-8", "replace").strip()[:REFUSAL_LIMIT_BYTES] or "no text"
        status = self._response.status
        return FailedRequest(HTTP, "The engine answered with %s: %s" % (status, text), status)
