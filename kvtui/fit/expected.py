"""How much of its requests a plan's documents should find again, by what they have in common."""

from __future__ import annotations

from dataclasses import dataclass

from kvtui.attribution import reusable_tokens
from kvtui.plan import Plan


@dataclass(frozen=True, slots=True)
class ExpectedReuse:
    """Tokens that a tier which keeps everything gives back.

    Attributes:
        documents: Requests of a pass.
        prompt_tokens: Length of each.
        shared_tokens: Whole chunks of the prefix: what every request but the first of a pass finds, even in
            a cold pass, and on a node that never saw the documents.
        cached_tokens: What each request finds once all documents are stored.
    """

    documents: int
    prompt_tokens: int
    shared_tokens: int
    cached_tokens: int

    @property
    def cold_share(self) -> float:
        """Part of the cold pass's tokens that is found again, from 0 to 1."""
        return (self.documents - 1) * self.shared_tokens / (self.documents * self.prompt_tokens)


def expected_reuse(plan: Plan) -> ExpectedReuse:
    """What the plan's prefix and chunk size make of its passes.

    What a person's own documents have in common beside the prefix is known only by their token ids.
    """
    corpus, chunk = plan.corpus, plan.hash.chunk_tokens
    return ExpectedReuse(
        corpus.documents,
        corpus.prompt_tokens,
        corpus.prefix_tokens // chunk * chunk,
        reusable_tokens(corpus.prompt_tokens, chunk),
    )
