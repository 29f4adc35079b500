"""A person's own documents: read from a folder or a file, with everything that is wrong with them said."""

from corpus.own.prompt import Prompt
from corpus.own.reader import read
from corpus.own.report import Problem, Reading
from corpus.own.sharing import exact_problems, text_problems
from corpus.own.trace import TraceRequest, expected_trace_hit_tokens, trace_ids

__all__ = [
    "Problem",
    "Prompt",
    "Reading",
    "TraceRequest",
    "exact_problems",
    "expected_trace_hit_tokens",
    "read",
    "text_problems",
    "trace_ids",
]
