"""Serves just enough of vLLM's API to walk a run's steps; what it answers is never a figure."""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECONDS_A_REQUEST = float(os.environ.get("STAND_IN_SECONDS", "0.3"))
MODEL = sys.argv[sys.argv.index("--served-model-name") + 1]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def answer(self, text: str, kind: str = "application/json") -> None:
        """Send a whole answer."""
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

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
