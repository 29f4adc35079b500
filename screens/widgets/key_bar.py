"""The keys at the bottom: as many as there is room for, each whole, and always the one for help."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

_ALWAYS = "help"


class KeyBar(Footer):
    """A footer that leaves whole keys out where Textual's cuts one in the middle."""

    async def recompose(self) -> None:
        """Other keys."""
        await super().recompose()
        self._fit(self.size.width)

    def on_resize(self, event: events.Resize) -> None:
        """There is room for other keys."""
        self._fit(event.size.width)

    def _fit(self, columns: int) -> None:
        keys = list(self.query(FooterKey))
        needed = {key: cell_len(key.key_display) + cell_len(key.description) + 2 for key in keys}
        docked = [key for key in keys if key.has_class("-command-palette")]
        kept = [key for key in keys if key.action == _ALWAYS]
        others = [key for key in keys if key not in docked and key not in kept]
        room = columns - sum(needed[key] for key in kept)
        # The palette knows what there is no room for.
        for key in (*docked, *others):
            room -= needed[key] + (key in docked)
            key.display = room >= 0
