"""Rows about the Valkey server, and the way to it from each engine."""

from __future__ import annotations

from collections.abc import Iterable

from kvtui.findings import Finding, Level
from kvtui.preflight.answers import RoundTrip, Unanswered
from kvtui.preflight.row import CheckRow, State, state_of
from kvtui.storefacts import StoreFacts
from kvtui.units import DASH, gib, ms

# Which finding of the server belongs to which row; others are told by the first.
_CODES = {
    "store-room": ("store-too-small", "store-no-limit", "store-bulk-limit", "store-earlier-keys"),
    "store-policy": ("store-volatile-policy", "store-random-policy", "store-evicts-others"),
    "store-saves": ("store-rdb-saves", "store-aof"),
}


def store_rows(node: str, store: StoreFacts, findings: Iterable[Finding]) -> tuple[CheckRow, ...]:
    """What the server is, row by row, with the assessment's findings about it, the worst first."""
    about = [one for one in findings if one.code.startswith("store-")]
    told = {code for codes in _CODES.values() for code in codes}
    limit = "no limit" if store.maxmemory_bytes == 0 else gib(store.maxmemory_bytes)
    saves = {None: DASH, "": "no RDB"}.get(store.rdb_saves, "RDB")
    log = {None: DASH, True: "AOF", False: "no AOF"}[store.aof]
    measured = {
        "store-room": f"{gib(store.used_memory_bytes)} of {limit}",
        "store-policy": store.policy or DASH,
        "store-saves": f"{saves}, {log}",
    }
    titles = {
        "store-room": "store: room, longest value",
        "store-policy": "store: eviction policy",
        "store-saves": "store: writes no files",
    }
    rest = next((one for one in about if one.code not in told), None)
    version = f"Valkey {store.version or DASH}"
    rows = [CheckRow("store", "store: answers", node, state_of(rest), version, rest)]
    for id_, codes in _CODES.items():
        finding = next((one for one in about if one.code in codes), None)
        unknown = DASH in measured[id_] and finding is None
        state = State.UNKNOWN if unknown else state_of(finding)
        rows.append(CheckRow(id_, titles[id_], node, state, measured[id_], finding))
    return tuple(rows)


def value_row(node: str, answer: RoundTrip | Unanswered) -> CheckRow:
    """A value of one chunk, written, read back and removed by the engine's node."""
    title = "store: one chunk and back"
    if isinstance(answer, Unanswered):
        finding = Finding(Level.BLOCKING, "store-value", answer.text, answer.remedy, node)
        return CheckRow("value", title, node, State.FAILED, answer.word, finding)
    measured = f"{answer.size_bytes / 1024**2:,.1f} MiB in {ms(answer.time_ms)}"
    return CheckRow("value", title, node, State.OK, measured)


def password_row(node: str, variable: str) -> CheckRow:
    """The store's password is wanted from a variable that is not set."""
    text = f"The store's password is wanted from the environment variable {variable}."
    finding = Finding(Level.BLOCKING, "store-password", text, "Set it, and start kvtui again.", node)
    return CheckRow("password", "store: password", node, State.FAILED, "not set", finding)
