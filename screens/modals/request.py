"""One request whole: figures, verdict with its evidence, the TTFT taken apart, its log lines."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from kvtui.live.told import RequestDetail
from kvtui.loglines import clean
from kvtui.units import DASH
from screens.base import host
from screens.figures import gb_s, ms
from screens.widgets.live.head import SIGN_STYLES
from screens.widgets.live.log_text import shown

_LABEL = 13


def _tokens(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def _row(label: str, *parts: str | tuple[str, str] | Content) -> Content:
    return Content.assemble((f"{label:<{_LABEL}}", "$muted"), *parts)


def detail_text(detail: RequestDetail) -> Content:
    """Everything that is known of a request."""
    where = " · ".join(
        clean(word) for word in (detail.tier, detail.topology, detail.step, detail.node) if word
    )
    rows = [
        _row("request", clean(detail.request_id)),
        _row("pass", where, (f"  place {detail.place}" if detail.place else "", "$muted")),
        _row("verdict", (f"{detail.sign.value} {clean(detail.verdict) or DASH}", SIGN_STYLES[detail.sign])),
        _row("evidence", clean(detail.evidence) or DASH),
        _row(
            "TTFT",
            (ms(detail.ttft_ms), "bold"),
            (" ms   answer complete after ", "$muted"),
            ms(detail.total_ms),
            (" ms", "$muted"),
        ),
        _row(
            "tokens",
            _tokens(detail.prompt_tokens),
            (" in the prompt   ", "$muted"),
            _tokens(detail.reused_tokens),
            (" reused of ", "$muted"),
            _tokens(detail.reusable_tokens),
            (" that could be", "$muted"),
        ),
        _row("lookup", _tokens(detail.hit_tokens), (" tokens found", "$muted")),
        _row(
            "retrieve",
            _tokens(detail.retrieved_tokens),
            (" tokens in ", "$muted"),
            ms(detail.retrieve_ms),
            (" ms, ", "$muted"),
            gb_s(detail.retrieve_bytes_s),
            (" GB/s", "$muted"),
        ),
        _row(
            "store",
            _tokens(detail.stored_tokens),
            (" tokens in ", "$muted"),
            ms(detail.store_ms),
            (" ms", "$muted"),
        ),
    ]
    if detail.parts is not None:
        parts = detail.parts
        rows.append(
            _row(
                "taken apart",
                ("lookup ", "$stored"),
                f"at most {ms(parts.lookup_at_most_ms)}",
                ("   retrieve ", "$cached"),
                ms(parts.retrieve_ms),
                ("   rest ", "$neutral"),
                ms(parts.rest_ms),
                (" ms", "$muted"),
            )
        )
    rows.append(Content(""))
    told = [Content(shown(row)) for row in detail.lines]
    rows += told or [Content.styled("None of its log lines is in memory.", "$muted")]
    return Content("\n").join(rows)


class RequestModal(ModalScreen[None]):
    """A request; ``y`` copies it, ``escape`` goes back.

    Args:
        detail: The request.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close"),
        Binding("y", "copy", "Copy"),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, detail: RequestDetail) -> None:
        super().__init__()
        self._detail = detail

    def compose(self) -> ComposeResult:
        """The text, scrolled where it is long."""
        with Vertical(classes="dialog request") as dialog:
            dialog.border_title = Content(clean(self._detail.document) or "Request")
            dialog.border_subtitle = "y Copy · esc Close"
            with VerticalScroll(id="request-scroll"):
                yield Static(detail_text(self._detail))

    def action_close(self) -> None:
        """Close it."""
        self.dismiss()

    def action_copy(self) -> None:
        """Copy all of it."""
        host(self.app).copy(detail_text(self._detail).plain + "\n", "the request")

    def action_down(self) -> None:
        """Scroll down."""
        self.query_one("#request-scroll").scroll_down()

    def action_up(self) -> None:
        """Scroll up."""
        self.query_one("#request-scroll").scroll_up()
