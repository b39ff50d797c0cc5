"""The operators behind measured differences, by the names that the project gives them."""

from collections import defaultdict
from collections.abc import Sequence
from math import log

import msgspec

from asv_watch.comparison import Ratio
from asv_watch.judge.causes import in_words, leading_operator
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep
from asv_watch.records.labels import Layout
from asv_watch.records.store import OperatorDifference, StoredExplanation
from asv_watch.site import names
from asv_watch.site.contents import Contents
from asv_watch.text import quantities

_OPERATORS = 6
"""Most operators of an explanation that are drawn."""
_MOST = 3
"""Most explanations of a case that are shown."""
_LEAST_SHARE = 0.5
"""An operator is named beside a difference if it accounts for this share of it."""


class ExplainedOperator(msgspec.Struct):
    """An operator whose time differs."""

    name: str
    widths: tuple[float, float]
    """Widths of the bars of its times before and after, in per cent of the longest bar."""
    text: str


class Explained(msgspec.Struct):
    """Operators that differ between two versions in one call of a case."""

    machine: str
    day: str
    before: str
    after: str
    text: str
    operators: list[ExplainedOperator]


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

    def operator(self, step: ReleaseStep, ratio: Ratio) -> str:
        """Return the operator behind a difference of times; empty if none is known."""
        stored = self._stored.get((ratio.case, step.before, step.after))
        if stored is None or not ratio.differs or ratio.metric != "time":
            return ""
        leading = leading_operator(stored.explanation, ratio.ratio)
        if isinstance(leading, str) or leading.share < _LEAST_SHARE:
            return ""
        return self._layout.operator(leading.name.rpartition(" → ")[2])


def explained_cases(contents: Contents) -> dict[str, list[Explained]]:
    """Return the explanations of each case, that of the largest difference first."""
    layout = contents.layout
    explained = defaultdict[str, list[Explained]](list)
    stored = contents.history.explanations.items()
    everything = [(machine, one) for machine, of_machine in stored for one in of_machine]
    for machine, one in sorted(everything, key=lambda entry: -_size(entry[1])):
        if len(explained[one.case]) < _MOST:
            explained[one.case].append(
                Explained(
                    machine,
                    quantities.day(one.at),
                    *names.version_names(one.before, one.after),
                    in_words(one.explanation, layout=layout, for_people=True),
                    _operators(one.explanation.operators, layout),
                )
            )
    return explained


def _size(stored: StoredExplanation) -> float:
    before, after = stored.explanation.seconds
    return abs(log(after / before)) if before > 0 and after > 0 else 0.0


def _operators(
    differences: Sequence[OperatorDifference], layout: Layout
) -> list[ExplainedOperator]:
    seconds: dict[str, tuple[float, float]] = {}
    for operator in differences:
        if operator.clear:
            name = layout.operator(operator.name)
            before, after = seconds.get(name, (0.0, 0.0))
            seconds[name] = (before + operator.seconds[0], after + operator.seconds[1])
    largest = sorted(seconds.items(), key=lambda entry: -abs(entry[1][1] - entry[1][0]))
    shown = largest[:_OPERATORS]
    longest = max((max(sides) for _, sides in shown), default=0.0) or 1.0
    return [
        ExplainedOperator(
            name,
            (round(100 * before / longest, 1), round(100 * after / longest, 1)),
            quantities.moved(before, after, "seconds"),
        )
        for name, (before, after) in shown
    ]
