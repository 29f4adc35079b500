"""A recorded run's documents in the reader: where its chunks end, and what was sent."""

from __future__ import annotations

from pathlib import Path

from corpus import characters_for, document
from kvtui.campaign.documents import load_documents
from kvtui.services.app_documents import AppDocuments
from tests.kvtui.test_own_documents import a_plan
from tests.screens.test_corpus_reader import app_with, settled, shown
from tests.services.test_app_documents import known, ran


async def test_chunks_end_where_the_run_cut_them(tmp_path: Path) -> None:
    plan = a_plan()
    record = await ran(plan, tmp_path, "260102-000000-aaaa")
    text = document(plan.corpus.seed, 0, characters_for(plan.corpus.tokens)).text
    app = app_with(AppDocuments(tmp_path, known), plan)
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        # This run's tokenizer made a token of each character, so its first chunk ends after 256 of them.
        assert "".join(text[236:256].split()) + "┃" in "".join(shown(app).split())
        await pilot.press("t")
        await settled(pilot)
        sent = load_documents(record.documents, plan.corpus.documents).corpus[0].token_ids
        assert [str(one) for one in sent[:8]] == [word for word in shown(app).split() if word.isdigit()][
            1:9
        ], shown(app)
