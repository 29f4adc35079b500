"""The documents of a plan: the list with its totals, and one of them to read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from kvtui.corpus_view import CorpusList, CorpusRow, DocumentText
from kvtui.errors import KvtuiError
from kvtui.loglines import clean, shorten
from kvtui.plan import Plan
from kvtui.units import DASH, gib
from screens.background import in_background
from screens.base import KvtuiScreen, host
from screens.commands import Command, bindings
from screens.page import ids_as_text
from screens.ports.documents import Documents
from screens.session import Session
from screens.widgets.document_page import DocumentPage, Page
from screens.widgets.facts import facts_grid
from screens.widgets.filter_table import Column, FilterTable, TableRow

# The list's own width, not that of the terminal: a narrow one has it above the text.
_COLUMNS = (
    Column("place", "#", right=True),
    Column("domain", "DOMAIN", least=70),
    Column("kind", "KIND"),
    Column("words", "WORDS", right=True, least=50),
    Column("tokens", "TOKENS", right=True, least=60),
    Column("chunks", "CHUNKS", right=True, least=76),
    Column("kv", "KV MiB", right=True, least=60),
    Column("title", "TITLE"),
)
_TITLE, _NOTES, _LABEL = 80, 6, 9
_PAUSE_S = 0.05
"""Whoever runs down the list does not want to read every document of it."""


def _number(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"


def _mib(size_bytes: int | None) -> str:
    return DASH if size_bytes is None else f"{size_bytes / 2**20:,.1f}"


def _row(row: CorpusRow) -> TableRow:
    words, kv = _number(row.words), _mib(row.kv_bytes)
    texts = (clean(row.domain), clean(row.kind), shorten(clean(row.title), _TITLE))
    domain, kind, title = texts
    tokens, chunks = _number(row.tokens), _number(row.chunks)
    figures = (row.words or -1, row.tokens, row.chunks, row.kv_bytes or -1)
    return TableRow(
        str(row.place),
        (str(row.place + 1), domain, kind, words, tokens, chunks, kv, title),
        (row.place, domain, kind, *figures, title),
    )


def totals(found: CorpusList, width: int) -> str:
    """The whole corpus in a line of at most so many cells, what matters least left out."""
    documents, working_set = f"{found.documents:,} documents", f"working set {gib(found.working_set_bytes)}"
    tokens, chunks = f"{found.tokens:,} tokens", f"{found.chunks:,} chunks"
    whole = " · ".join((documents, tokens, chunks, working_set))
    return whole if len(whole) <= width else f"{documents} · {working_set}"


def facts(document: DocumentText, chunk_tokens: int, width: int) -> list[tuple[str, str]]:
    """What is known of a document, by name."""
    row = document.row
    rest = row.tokens - row.chunks * chunk_tokens
    behind = f" + {rest:,} tokens" if rest else ""
    size = f" · KV {_mib(row.kv_bytes)} MiB" if row.kv_bytes is not None else ""
    sent = "" if document.sent_characters is None else f", the first {document.sent_characters:,} sent"
    lines = [
        ("tokens", f"{row.tokens:,} · {row.chunks:,} chunks of {chunk_tokens:,}{behind}{size}"),
        ("text", f"{_number(row.words)} words, {_number(row.characters)} characters{sent}"),
        ("SHA-256", shorten(row.sha256 or DASH, width - _LABEL)),
    ]
    if document.text is not None and document.why_no_borders:
        lines.append(("borders", f"{DASH} {document.why_no_borders}"))
    return lines


class CorpusReader(KvtuiScreen):
    """Lists the documents of a plan and shows them.

    Args:
        session: What the screens share.
        documents: Where they come from.
        plan: The plan.
    """

    MODE = "documents"
    TAB = "plan"
    CSS_PATH = "corpus_reader.tcss"
    ACTIONS: ClassVar[tuple[Command, ...]] = (
        Command("documents.next", "n", "Next", "Read the next document.", "step(1)"),
        Command("documents.previous", "p", "Previous", "Read the document before.", "step(-1)"),
        Command(
            "documents.filter", "slash", "Filter", "Show only documents that match.", "filter", label="/"
        ),
        Command("documents.ids", "t", "Token ids", "Show the token ids that were sent, or the text.", "ids"),
        Command("documents.copy", "y", "Copy text", "Copy the document's text.", "copy_text"),
        Command("documents.back", "escape", "Back", "Go back to the plan.", "back"),
    )
    BINDINGS: ClassVar[list[BindingType]] = bindings(ACTIONS)

    def __init__(self, session: Session, documents: Documents, plan: Plan) -> None:
        super().__init__(session)
        self._documents = documents
        self._plan = plan
        self._found: CorpusList | None = None
        self._place: int | None = None
        self._shown: DocumentText | None = None
        self._show_ids = False

    def compose_body(self) -> Iterable[Widget]:
        """The list and the document."""
        table = FilterTable(_COLUMNS, self._progress(0), id="documents")
        notes = VerticalScroll(Static(id="notes"), id="notes-scroll", can_focus=False)
        listed = Vertical(table, notes, id="list-panel", classes="panel")
        listed.border_title = "Documents"
        page = Vertical(
            Static(id="facts"), Static(id="why", markup=False), DocumentPage(id="page"),
            id="page-panel", classes="panel",
        )  # fmt: skip
        return [Horizontal(listed, page, id="reader")]

    def on_mount(self) -> None:
        """Make or read the documents."""
        in_background(self, self._load, "load")

    def on_resize(self, event: events.Resize) -> None:
        """A narrow terminal has the list above the text."""
        super().on_resize(event)
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        table = self.query_one(FilterTable)
        table.set_width(table.size.width)
        self._draw_totals()
        self._draw_facts()

    def _progress(self, done: int) -> str:
        corpus = self._plan.corpus
        if corpus.source is not None:
            return f"Reading documents from {clean(corpus.source)} … esc stops."
        count = f"{done} of {corpus.documents:,}" if done else f"{corpus.documents:,}"
        return f"Writing documents … {count}. esc stops."

    def _tell(self, done: int) -> None:
        if self.is_attached:
            self.query_one(FilterTable).set_empty(self._progress(done))

    async def _load(self) -> None:
        table, panel = self.query_one(FilterTable), self.query_one("#list-panel")
        try:
            found = await self._documents.all(self._plan, self._tell)
        except KvtuiError as error:
            table.set_empty(clean(str(error)))
            return
        table.set_rows([_row(row) for row in found.rows])
        panel.border_title = Content(clean(f"Documents · {found.source}"))
        self._found = found
        self._draw_totals()
        notes = [clean(note) for note in found.notes]
        if len(notes) > _NOTES:
            left = len(notes) - _NOTES + 1
            notes = [*notes[: _NOTES - 1], f"{left:,} notes more: kvtui corpus check tells them all."]
        self.query_one("#notes", Static).update(Content("\n").join(Content(note) for note in notes))
        self.set_class(bool(notes), "-notes")

    def _draw_totals(self) -> None:
        if self._found is not None:
            panel = self.query_one("#list-panel")
            panel.border_subtitle = Content(totals(self._found, panel.size.width - 2))

    def _draw_facts(self) -> None:
        if self._shown is not None:
            panel = self.query_one("#facts", Static)
            lines = facts(self._shown, self._plan.hash.chunk_tokens, panel.size.width)
            panel.update(facts_grid(self.app, lines))

    @on(FilterTable.Moved)
    def _moved(self, event: FilterTable.Moved) -> None:
        place = None if event.key is None else int(event.key)
        if place is not None and place != self._place:
            self._place = place
            in_background(self, self._read, "read")

    @on(FilterTable.Chosen)
    def _chosen(self) -> None:
        self.query_one(DocumentPage).focus()

    async def _read(self) -> None:
        place = self._place
        if place is None:
            return
        await asyncio.sleep(_PAUSE_S)
        try:
            self._shown = await self._documents.read(self._plan, place)
        except KvtuiError as error:
            self._shown = None
            self._draw_why(str(error))
            return
        self._draw()

    def _draw_why(self, why: str) -> None:
        if not self.has_class("-reading"):
            self.add_class("-reading")
            self.call_after_refresh(self._fit)
        self.query_one("#why", Static).update(Content(clean(why)))
        self.query_one("#why").display = bool(why)
        self.query_one(DocumentPage).display = not why

    def _draw(self) -> None:
        document = self._shown
        if document is None:
            return
        panel, chunk_tokens = self.query_one("#page-panel"), self._plan.hash.chunk_tokens
        title = f"{document.row.document_id} · {document.row.title}"
        panel.border_title = Content(shorten(clean(title), 160))
        self._draw_facts()
        if self._show_ids:
            panel.border_subtitle = "token ids · t Text"
            why, page = document.why_no_ids, self._ids_page(document, chunk_tokens)
        else:
            panel.border_subtitle = "text · t Token ids"
            why, page = document.why_no_text, self._text_page(document)
        self._draw_why(why)
        self.query_one(DocumentPage).show(page)

    def _ids_page(self, document: DocumentText, chunk_tokens: int) -> Page:
        text, ends = ids_as_text(document.token_ids or (), chunk_tokens)
        return Page(text, ends)

    def _text_page(self, document: DocumentText) -> Page:
        ends = document.chunk_ends or ()
        return Page(
            document.text or "",
            ends,
            # Chunks that end within a prefix have no place in the text.
            first_chunk=document.row.chunks - len(ends) + 1,
            sent=document.sent_characters,
            ending=f"{document.row.tokens:,} tokens end here; the rest is not sent",
        )

    def action_step(self, by: int) -> None:
        """Go up or down in the list."""
        self.query_one(FilterTable).step(by)

    def action_filter(self) -> None:
        """Show fewer rows."""
        self.query_one(FilterTable).start_filter()

    def action_ids(self) -> None:
        """Token ids instead of the text, or the text again."""
        self._show_ids = not self._show_ids
        self._draw()

    def action_copy_text(self) -> None:
        """Copy the text, as it is."""
        if self._shown is not None and self._shown.text is not None:
            host(self.app).copy(self._shown.text, f"the text of {clean(self._shown.row.document_id)}")

    def action_back(self) -> None:
        """Go back; work under way is stopped."""
        self.dismiss()
