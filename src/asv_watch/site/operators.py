"""Operators by the names that people use: ``max_pool2d_with_indices`` is max pooling."""

from __future__ import annotations

import re
from collections.abc import Sequence

from asv_watch.judge.causes import in_words
from asv_watch.judge.graph import PairRatio
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep
from asv_watch.records.explanations import StoredExplanation
from asv_watch.records.labels import Layout

_ACCOUNTS = re.compile(r"^(?:.+ → )?(\S+) accounts for (\d+) %")
_LEAST_SHARE = 50
"""Per cent of the difference that an operator accounts for, to be named beside it."""


def operator_name(name: str, layout: Layout) -> str:
    """Return what people call an operator: as the project spells it, or its bare name."""
    bare = name.rpartition("::")[2].strip("_")
    return layout.spelling.get(bare) or bare.removeprefix("native_").replace("_", " ")


def leading_operator(explanation: StoredExplanation, ratio: float, layout: Layout) -> str:
    """Return the operator that accounts for most of a difference; empty where none does."""
    accounts = _ACCOUNTS.match(in_words(explanation.explanation, ratio))
    if accounts is None or int(accounts[2]) < _LEAST_SHARE:
        return ""
    return operator_name(accounts[1], layout)


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

    def operator(self, step: ReleaseStep, case: str, ratio: PairRatio) -> str:
        """Return the operator that accounts for a difference; empty where none is known."""
        stored = self._stored.get((case, step.before, step.after))
        return leading_operator(stored, ratio.ratio, self._layout) if stored else ""
