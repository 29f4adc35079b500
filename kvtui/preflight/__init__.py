"""What is checked before a run starts: answers of the nodes and the store, judged row by row."""

from kvtui.preflight.answers import (
    Answers,
    Asking,
    Holder,
    ModelConfig,
    Question,
    RoundTrip,
    Subject,
    Unanswered,
)
from kvtui.preflight.row import SIGNS, CheckRow, State
from kvtui.preflight.rows import fix_of, known_of, rows, still_open
from kvtui.preflight.verdict import Verdict, verdict

__all__ = [
    "SIGNS",
    "Answers",
    "Asking",
    "CheckRow",
    "Holder",
    "ModelConfig",
    "Question",
    "RoundTrip",
    "State",
    "Subject",
    "Unanswered",
    "Verdict",
    "fix_of",
    "known_of",
    "rows",
    "still_open",
    "verdict",
]
