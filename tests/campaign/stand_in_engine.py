"""Serves just enough of vLLM's API to walk a run's steps; what it answers is never a figure.

``STAND_IN_FAULT`` names a fault and its request: ``dies:9`` ends at the ninth completion, ``refuses:9``
answers that one with an error.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS_A_REQUEST = float(os.environ.get("STAND_IN_SECONDS", "0.3"))
FAULT, _, FAULT_AT = os.environ.get("STAND_IN_FAULT", "none:0").partition(":")
MODEL = sys.argv[sys.argv.index("--served-model-name") + 1]

COMPLETIONS = 0


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def answer(self, text: str, kind: str = "application/json", status: int = 200) -> None:
        """Send a whole answer."""
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def faulty(self) -> bool:
        """Count a completion; whether it is to fail. An engine that dies does so here."""
        global COMPLETIONS
        COMPLETIONS += 1
        due = int(FAULT_AT) == COMPLETIONS
        if FAULT == "dies" and due:
            sys.stdout.write("MemoryError: no room for the answer\n")
            sys.stdout.flush()
            os._exit(3)
        return FAULT == "refuses" and due

    def do_GET(self) -> None:
        """Health, models, counters."""
        if self.path == "/v1/models":
            self.answer(json.dumps({"data": [{"id": MODEL}]}))
        else:
            self.answer("# no counters\n", "text/plain")

    def do_POST(self) -> None:
        """Token ids of a text, or the stream of a completion."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            words = body["prompt"].split()
            self.answer(json.dumps({"tokens": [zlib.crc32(word.encode()) % 50_000 for word in words]}))
            return
        if self.faulty():
            self.answer("dead", status=500)
            return
        time.sleep(SECONDS_A_REQUEST)
        usage = {
            "prompt_tokens": len(body["prompt"]),
            "completion_tokens": 1,
            "total_tokens": len(body["prompt"]) + 1,
            "prompt_tokens_details": {"cached_tokens": 0},
        }
        chunk = {
            "id": "cmpl-x",
            "choices": [
                {
                    "index": 0,
                    "text": "a",
                    "finish_reason": "length",
                    "logprobs": {
                        "tokens": ["token_id:1"],
                        "token_logprobs": [-0.5],
                        "top_logprobs": [{"token_id:1": -0.5, "token_id:2": -1.5}],
                    },
                }
            ],
            "usage": usage,
        }
        last = {"id": "cmpl-x", "choices": [], "usage": usage}
        events = "".join(f"data: {json.dumps(part)}\n\n" for part in (chunk, last))
        self.answer(f"{events}data: [DONE]\n\n", "text/event-stream")


port = int(sys.argv[sys.argv.index("--port") + 1])
server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
sys.stdout.write("INFO:     Application startup complete.\n")
sys.stdout.flush()
server.serve_forever()
