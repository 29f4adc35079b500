"""Documents that are sent twice, or that the warm-up knows already."""

from __future__ import annotations

from corpus.tokens import TokenDocument, ids_sha256
from kvtui.campaign.document_checks import document_findings
from kvtui.campaign.documents import RunDocuments

CHUNK = 256
LENGTH = 2 * CHUNK + 16


def document(number: int, begins: int = 0, same: int = 0) -> TokenDocument:
    """A document whose ids are its own but the first ``same``, which are those of another one."""
    ids = tuple(1000 * begins + place if place < same else 1000 * number + place for place in range(LENGTH))
    return TokenDocument(f"d{number}", ids, None, ids_sha256(ids))


def codes(corpus: list[TokenDocument], warmup: TokenDocument | None = None) -> list[str]:
    made = RunDocuments(tuple(corpus), (document(90), document(91)), (warmup or document(92), document(93)))
    return [finding.code for finding in document_findings(made, CHUNK)]


def test_documents_of_their_own_are_no_finding() -> None:
    assert codes([document(1), document(2), document(3)]) == []


def test_documents_that_share_a_prefix_are_none_either() -> None:
    assert codes([document(1), document(2, begins=1, same=CHUNK), document(3, begins=1, same=CHUNK)]) == []


def test_a_document_that_comes_again_is_named_with_the_one_that_it_is() -> None:
    again = TokenDocument("d9", document(1).token_ids, None, document(1).sha256)
    made = RunDocuments((document(1), document(2), again), (), ())
    (finding,) = document_findings(made, CHUNK)
    assert finding.code == "document-twice"
    assert "1 document is sent twice in a pass: d9 is d1." in finding.text


def test_a_warm_up_with_a_measured_document_is_found_by_its_ids_whatever_it_is_called() -> None:
    assert codes([document(1), document(2)], document(2)) == ["warm-up-overlaps"]
    renamed = TokenDocument("other", document(1).token_ids, None, document(1).sha256)
    assert codes([document(1), document(2)], renamed) == ["warm-up-overlaps"]


def test_a_common_beginning_of_less_than_a_chunk_leaves_nothing() -> None:
    assert codes([document(1)], document(92, begins=1, same=CHUNK - 1)) == []
    assert codes([document(1)], document(92, begins=1, same=CHUNK)) == ["warm-up-overlaps"]
