"""What a check of a person's file or field found, in words of kvtui's own."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import ErrorDetails

_WORDS = {
    "missing": "needed",
    "extra_forbidden": "unknown field",
    "string_too_short": "needed",
    "string_pattern_mismatch": "small letters, digits and single dashes",
    "finite_number": "a finite number",
    "json_invalid": "it holds characters that no file can hold",
    "string_unicode": "it holds characters that no file can hold",
    "int_parsing_size": "a number of fewer digits",
}
# By the beginning of the error's name: int_type, int_parsing, int_from_float …
_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "a text",
    "tuple": "a list",
    "list": "a list",
    "dict": "a table",
    "model": "a table",
    "enum": "one of the allowed values",
    "literal": "one of the allowed values",
}
_NOT_THIS = ("_type", "_parsing", "_from_float", "enum", "literal_error")
_MOST_SHOWN = 40


def fault_words(fault: ErrorDetails) -> str:
    """What is wanted instead, in a few words."""
    context: dict[str, Any] = fault.get("ctx", {})
    match fault["type"]:
        case "value_error":
            return str(fault["msg"]).removeprefix("Value error, ")
        case "greater_than_equal":
            return f"{_figure(context['ge'])} or more"
        case "less_than_equal":
            return f"{_figure(context['le'])} at most"
        case "greater_than":
            return f"more than {_figure(context['gt'])}"
        case "less_than":
            return f"less than {_figure(context['lt'])}"
        case "string_too_long":
            return f"{context['max_length']:,} characters at most"
        case "too_short":
            return "needed" if context["min_length"] == 1 else f"{context['min_length']:,} or more of them"
        case "too_long":
            return f"{context['max_length']:,} of them at most"
        case "enum" | "literal_error":
            return str(context["expected"]).replace("'", "")
        case kind if kind in _WORDS:
            return _WORDS[kind]
        case kind:
            return _KINDS.get(kind.partition("_")[0], "a value that is allowed here")


def fault_sentence(fault: ErrorDetails) -> str:
    """The same, with what is there where that says more."""
    words = fault_words(fault)
    return f"{words}, not {_described(fault['input'])}" if fault["type"].endswith(_NOT_THIS) else words


def _figure(limit: float) -> str:
    return f"{int(limit) if limit == int(limit) else limit:,}"


def _described(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case str():
            return f"the text {json.dumps(value[:_MOST_SHOWN], ensure_ascii=False)}"
        case bool():
            return str(value).lower()
        case list():
            return "a list"
        case dict():
            return "a table"
    return str(value)[:_MOST_SHOWN]
