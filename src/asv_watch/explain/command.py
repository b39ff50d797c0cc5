"""Explains why a case is slower or faster on one side."""

from __future__ import annotations

import math
from pathlib import Path

from asv_watch import quantities
from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.checkout.workplace import open_workplace
from asv_watch.exit_status import ExitStatus
from asv_watch.explain.operators import explain as compare_operators
from asv_watch.interleave.cases import find_case
from asv_watch.interleave.sides import side
from asv_watch.judge.causes import in_words
from asv_watch.markdown import table
from asv_watch.options import After, Before, Machine, OneCase, Release
from asv_watch.records.explanations import Explanation, OperatorDifference


def explain(
    *,
    cases: OneCase,
    before: Before = "HEAD~1",
    after: After = "HEAD",
    release: Release = "newest",
    machine: Machine = "",
) -> ExitStatus:
    """Profile one case on two sides and print the operators that account for the difference.

    Raises:
        WatchError: the pattern matches no case or several, or a side cannot be profiled.
    """
    selection = matching(cases, otherwise=EVERYTHING).only_times()
    with open_workplace(Path.cwd(), "explain", release="all", machine=machine) as place:
        sides = side(place, before, release), side(place, after, release)
        case = find_case(place, [sides[0].environment, sides[1].environment], selection)
        print(f"profiling {case.name}", flush=True)
        explanation = compare_operators(place, sides, case)
    print(f"\n{report(explanation, sides[0].name, sides[1].name)}")
    return ExitStatus.DONE


_ROWS = 10
_COUNTS = {
    "dispatches": "dispatches",
    "flops": "FLOPs",
    "allocations": "allocations",
    "allocated_bytes": "bytes allocated",
}


def report(explanation: Explanation, before: str, after: str) -> str:
    """Return the operators that account for the difference, what else differs, and a summary."""
    clear = [operator for operator in explanation.operators if operator.clear]
    old, new = explanation.seconds
    difference = math.fsum(operator.difference for operator in clear)
    parts = [f"**{after}** against **{before}**"]
    if clear:
        head = ("operator", "input shapes", "calls", "self time before", "after", "difference")
        parts.append(table(head, [_row(operator) for operator in clear[:_ROWS]]))
    parts += [
        f"oneDNN {kernel.primitive} {kernel.problem}: "
        f"{', '.join(kernel.before) or 'not run'} → {', '.join(kernel.after) or 'not run'}"
        for kernel in explanation.kernels
    ]
    counts = [
        (words, *explanation.counts[name])
        for name, words in _COUNTS.items()
        if name in explanation.counts
    ]
    if counts:
        parts.append("In one call: " + "; ".join(_count(*count) for count in counts) + ".")
    parts.append(
        f"One call takes {_ms(old)} in its operators before and {_ms(new)} after, "
        f"under the profiler; the operators that differ clearly take {_signed(difference)} of it. "
        f"{in_words(explanation)}."
    )
    return "\n\n".join(parts)


def _count(words: str, before: float, after: float) -> str:
    """``1,200 dispatches``, or ``1,200 → 1,300 dispatches (+8.3 %)``."""
    if round(before) == round(after):
        return f"{before:,.0f} {words}"
    change = f" ({quantities.change(after / before, 'count')})" if before else ""
    return f"{before:,.0f} → {after:,.0f} {words}{change}"


def _row(operator: OperatorDifference) -> tuple[str, ...]:
    calls = " → ".join(f"{count:g}" for count in dict.fromkeys(operator.calls))
    before, after = operator.seconds
    times = _ms(before), _ms(after), _signed(operator.difference)
    return (f"`{operator.name}`", operator.shapes, calls, *times)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _signed(seconds: float) -> str:
    return f"{seconds * 1e3:+.4g} ms"
