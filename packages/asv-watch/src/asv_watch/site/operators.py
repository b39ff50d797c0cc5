"""The operators behind measured differences, by the names that the project gives them."""

from __future__ import annotations

from collections.abc import Sequence

from asv_watch.comparison import Ratio
from asv_watch.judge.causes import leading_operator
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep
from asv_watch.records.explanations import Explanation, StoredExplanation
from asv_watch.records.labels import Layout

_LEAST_SHARE = 0.5
"""An operator is named beside a difference if it accounts for this share of it."""


def operator_behind(explanation: Explanation, ratio: float, layout: Layout) -> str:
    """Return the operator that accounts for most of a difference; empty if none does."""
    leading = leading_operator(explanation, ratio)
    if isinstance(leading, str) or leading.share < _LEAST_SHARE:
        return ""
    return layout.operator(leading.name.rpartition(" → ")[2])


class ReleaseCauses:
    """The operators behind the differences that a machine measured between releases."""

    def __init__(
        self,
        history: ReleaseHistory,
        explanations: Sequence[StoredExplanation],
        layout: Layout,
    ) -> None:
        self._layout = layout
        self._stored = {
            (stored.case, *(side.requirements.get(history.requirement) for side in sides)): stored
            for stored in explanations
            if (sides := (stored.before, stored.after))
            and stored.before.commit == stored.after.commit
        }

    def operator(self, step: ReleaseStep, case: str, ratio: Ratio) -> str:
        """Return the operator that accounts for a difference; empty if none is known."""
        stored = self._stored.get((case, step.before, step.after))
        if stored is None:
            return ""
        return operator_behind(stored.explanation, ratio.ratio, self._layout)
