"""What the kinds with numbered clauses share: writing out a section for each topic."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from corpus.draft import Draft
from corpus.voice import Voice


def definitions(draft: Draft, voice: Voice, rule: str, opening: str) -> None:
    """The section of defined words, in the order of the alphabet, whatever the house style calls them."""
    draft.open_section("definitions", "{n}. DEFINITIONS")
    draft.numbered(lambda: opening)
    words = [voice.nth(rule, index) for index in range(voice.size(rule))]
    for text in sorted(words, key=lambda text: draft.styled(text).lower()):
        draft.paragraph(partial(str, text))


def sections(draft: Draft, voice: Voice, topics: Iterable[tuple[str, str]]) -> None:
    """A section for each topic and title; its clauses in the order of the rule, most of them used."""
    for topic, title in topics:
        draft.open_section(topic, f"{{n}}. {draft.styled(title).upper()}")
        for index in range(voice.size(topic)):
            if index == 0 or voice.dice.chance(0.85):
                draft.numbered(partial(voice.nth, topic, index))
