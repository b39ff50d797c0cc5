"""The operators behind measured differences, by the names that the project gives them."""

from asv_watch.comparison import Ratio
from asv_watch.judge.causes import leading_operator
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep
from asv_watch.site.contents import Contents

_LEAST_SHARE = 0.5
"""An operator is named beside a difference if it accounts for this share of it."""


class ReleaseCauses:
    """The operators behind the differences that a machine measured between releases."""

    def __init__(self, history: ReleaseHistory, contents: Contents) -> None:
        self._layout = contents.layout
        self._stored = {
            (stored.case, *(side.requirements.get(history.requirement) for side in sides)): stored
            for stored in contents.history.explanations.get(history.machine, ())
            if (sides := (stored.before, stored.after))
            and stored.before.commit == stored.after.commit
        }

    def operator(self, step: ReleaseStep, case: str, ratio: Ratio) -> str:
        """Return the operator that accounts for a difference; empty if none is known or does."""
        stored = self._stored.get((case, step.before, step.after))
        leading = leading_operator(stored.explanation, ratio.ratio) if stored else ""
        if isinstance(leading, str) or leading.share < _LEAST_SHARE:
            return ""
        return self._layout.operator(leading.name.rpartition(" → ")[2])
