"""The operators behind a difference, before and after, for the page of a case."""

from collections import defaultdict
from collections.abc import Sequence
from math import log

from asv_watch.judge.causes import in_words
from asv_watch.records.labels import Layout
from asv_watch.records.store import OperatorDifference, StoredExplanation
from asv_watch.site import names
from asv_watch.site.contents import Contents
from asv_watch.site.scripts import Json
from asv_watch.text import quantities

_OPERATORS = 6
"""Most operators of an explanation that are drawn."""
_MOST = 3
"""Most explanations of a case that are shown."""


def explained_cases(contents: Contents) -> dict[str, list[Json]]:
    """Return the explanations of each case, that of the largest difference first."""
    explanations_by_case: dict[str, list[tuple[str, StoredExplanation]]] = defaultdict(list)
    for machine, stored in contents.history.explanations.items():
        for explanation in stored:
            explanations_by_case[explanation.case].append((machine, explanation))
    return {
        case: [
            _shown(machine, explanation, contents.layout)
            for machine, explanation in sorted(stored, key=_size)[:_MOST]
        ]
        for case, stored in explanations_by_case.items()
    }


def differing_operators(contents: Contents) -> dict[str, set[str]]:
    """Return the names of the operators whose time differs in an explanation of each case."""
    names_of: dict[str, set[str]] = defaultdict(set)
    for stored in contents.history.explanations.values():
        for of_case in stored:
            differing = (one.name for one in of_case.explanation.operators if one.clear)
            names_of[of_case.case].update(map(contents.layout.operator, differing))
    return names_of


def _size(entry: tuple[str, StoredExplanation]) -> float:
    before, after = entry[1].explanation.seconds
    return -abs(log(after / before)) if before > 0 and after > 0 else 0.0


def _shown(machine: str, stored: StoredExplanation, layout: Layout) -> Json:
    before, after = names.version_names(stored.before, stored.after)
    return {
        "machine": machine,
        "day": quantities.day(stored.at),
        "before": before,
        "after": after,
        "text": in_words(stored.explanation, layout=layout, naming=layout.operator),
        "operators": _operators(stored.explanation.operators, layout),
    }


def _operators(differences: Sequence[OperatorDifference], layout: Layout) -> list[Json]:
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
        {
            "name": name,
            "widths": [round(100 * side / longest, 1) for side in sides],
            "text": quantities.moved(*sides, "seconds"),
        }
        for name, sides in shown
    ]
