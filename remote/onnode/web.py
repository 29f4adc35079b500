"""HTTP to a server on this node, over loopback."""

from __future__ import annotations

import json
import signal
import socket
from http.client import HTTPConnection, HTTPException
from typing import Any, Dict

from .failure import Failure


def http(args: Dict[str, Any]) -> Dict[str, Any]:
    """One request to 127.0.0.1: ``port``, ``method``, ``path``, ``headers``, ``body`` (JSON), ``timeout_s``.

    Raises:
        Failure: ``refused`` when nothing listens, ``timeout`` when the whole answer was not there in time,
            ``broken`` when it ended early or is not HTTP.
    """
    port, timeout_s = int(args["port"]), float(args["timeout_s"])
    headers = dict(args.get("headers") or {})
    body = None
    if args.get("body") is not None:
        body = json.dumps(args["body"]).encode()
        headers.setdefault("Content-Type", "application/json")
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    # A socket's own timeout starts anew with every byte; the alarm bounds the whole exchange.
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        connection.request(args["method"], args["path"], body=body, headers=headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
    except ConnectionRefusedError:
        raise Failure("refused", "Nothing listens on port %d." % port) from None
    except socket.timeout:  # the same as TimeoutError from Python 3.10 on
        raise Failure("timeout", "Port %d did not answer within %g s." % (port, timeout_s)) from None
    except (HTTPException, OSError) as error:
        raise Failure(
            "broken", "Port %d broke off: %s." % (port, str(error) or type(error).__name__)
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.close()
    return {"status": response.status, "text": text}


def _out_of_time(number: int, frame: Any) -> None:
    raise socket.timeout
