"""What is known about the cause of a change: the operator that accounts for it.

An explanation compares the operators of two versions. It belongs to a change if it has the case
and the release of the change's series, and its versions lie between the two commits of the change.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from asv_watch.records.history import History, Series
from asv_watch.records.labels import UNDECLARED, Layout
from asv_watch.records.store import Explanation, OperatorDifference
from asv_watch.statistics.rule import MINIMUM_EFFECT
from asv_watch.text import quantities

_SMALLEST_PART = MINIMUM_EFFECT / 5
"""An operator is a cause only if it differs by at least this share of the time of all operators: a
fifth of the smallest difference that counts."""
_MOST_FOR_ALL = 1.1
"""Largest share of the case's difference that is shown as "all" of it: profiles have noise too."""
_LEAST_FOR_ALL = 0.95
_SUCCESSION = " → "
_MOST_APART = 3.0
"""Largest factor between the difference of the operators and that of the case. Timing each
operator slows calls of many small operators down, to twice their time and more."""


def explained_between(
    history: History, series: Series, first: int, last: int
) -> Explanation | None:
    """Return the newest explanation of a series between two positions along the branch."""
    positions = history.positions
    release = history.environments[series.environment].release
    explained = [
        stored.explanation
        for stored in history.explanations.get(series.machine, ())
        if stored.case == series.case.name
        and stored.before.release == stored.after.release == release
        and first
        <= positions.get(stored.before.commit, -1)
        < positions.get(stored.after.commit, -1)
        <= last
    ]
    return explained[-1] if explained else None


class Leading(NamedTuple):
    """The operator that accounts for most of a difference."""

    name: str
    """If it replaced another operator, both names with an arrow."""
    seconds: tuple[float, float]
    """Before and after."""
    share: float
    """Share of the case's own difference; above 1 if other operators offset a part."""


def leading_operator(explanation: Explanation, ratio: float | None = None) -> Leading | str:
    """Return the operator that accounts for most of a difference, or say why none does."""
    clear = [operator for operator in explanation.operators if operator.clear]
    if not clear:
        return "no operator differs clearly from its noise"
    names = _names_with_successors(clear)
    times: dict[str, tuple[float, float]] = {}
    for operator in clear:
        name = names.get(operator.name, operator.name)
        old, new = times.get(name, (0.0, 0.0))
        times[name] = old + operator.seconds[0], new + operator.seconds[1]
    differences = {name: after - before for name, (before, after) in times.items()}
    before, after = explanation.seconds
    own = after - before
    if ratio is not None and before > 0:
        own, total = before * (ratio - 1), math.fsum(differences.values())
        if own == 0 or not 1 / _MOST_APART <= total / own <= _MOST_APART:
            explained = quantities.change(1 + total / before).removesuffix(" %")
            return f"operators explain {explained} of {quantities.change(ratio)}"
    agreeing = {name: value for name, value in differences.items() if value * own > 0}
    name = max(agreeing, key=lambda name: abs(agreeing[name]), default="")
    if not agreeing or abs(agreeing[name]) < _SMALLEST_PART * before:
        return "no operator accounts for the difference"
    return Leading(name, times[name], agreeing[name] / own)


def in_words(
    explanation: Explanation,
    ratio: float | None = None,
    layout: Layout = UNDECLARED,
    *,
    for_people: bool = False,
) -> str:
    """Return one line: the operator that accounts for most of the difference.

    Such as "83 % of it: aten::conv2d, 12.1 → 14.0 ms, kernel brg_conv:avx512_core → ref:any"; or
    that no cause was found. Only operators whose times do not overlap count. All shapes of an
    operator are added up, and a replaced operator counts with its replacement. The share is that
    of the case's own difference. An operator that differs by too small a part of the whole call is
    no cause. No operator is a cause if all of them together differ in the other direction than the
    case, or by less than a third or more than three times as much.

    ``ratio`` is the time of the case after over before, as measured without a profiler; if it is
    not known, the ratio of all operators in the profile counts. The layout declares which
    operators call a kernel, and names operators ``for_people``.
    """
    leading = leading_operator(explanation, ratio)
    if isinstance(leading, str):
        return f"no cause found: {leading}"
    names = leading.name.split(_SUCCESSION)
    if for_people:
        names = list(dict.fromkeys(map(layout.operator, names)))
    parts = [_SUCCESSION.join(names), quantities.moved(*leading.seconds, "seconds")]
    kernel = next(
        (change for change in explanation.kernels if layout.calls(leading.name, change.primitive)),
        None,
    )
    if kernel is not None:
        old_kernel, new_kernel = (
            ", ".join(names) or "none" for names in (kernel.before, kernel.after)
        )
        parts.append(f"kernel {old_kernel} → {new_kernel}")
    return f"{_share(leading.share)} of it: {', '.join(parts)}"


def _share(share: float) -> str:
    if share > _MOST_FOR_ALL:
        return "more than all"
    return "all" if share >= _LEAST_FOR_ALL else f"{share:.0%}".replace("%", " %")


def _names_with_successors(operators: Sequence[OperatorDifference]) -> dict[str, str]:
    """Give one name to an operator and its replacement.

    A replacement is called as often as the operator was, with inputs of equal shapes.
    """
    gone = {(o.shapes, o.calls[0]): o.name for o in operators if o.calls[1] == 0}
    names: dict[str, str] = {}
    for operator in operators:
        predecessor = gone.get((operator.shapes, operator.calls[1]))
        if operator.calls[0] == 0 and predecessor:
            names[predecessor] = names[operator.name] = (
                f"{predecessor}{_SUCCESSION}{operator.name}"
            )
    return names
