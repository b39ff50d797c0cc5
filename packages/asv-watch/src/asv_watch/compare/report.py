"""Says what a comparison of versions found: as JSON has it, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from asv_watch import answers
from asv_watch.answers import Difference
from asv_watch.comparison import Outcome, metric_of
from asv_watch.engine.measuring import Compared
from asv_watch.engine.rounds import DEFAULT
from asv_watch.judge.graph import MachineGraphs, machine_graphs
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict
from asv_watch.text import quantities
from asv_watch.text.terminal import table

_RULE = (
    "A difference is a ratio whose interval excludes 1 and that is "
    f"{quantities.share(MINIMUM_EFFECT)} or more away from 1."
)
_CPU_TIME = (
    "CPU time replaces wall time here, because wall time also counts other work on the machine."
)
_ONE_SETUP = (
    "One `setup` served all samples of a round, because it takes more than ten times as long:"
)


def differences_of(
    compared: Compared, machine: str, sides: Sequence[str] = ()
) -> list[Difference]:
    """Return the cases of a comparison as JSON has them, with the precision of their machine.

    ``sides`` names both sides if more than two were compared.
    """
    record = compared.record
    graphs = machine_graphs(record.parents[1], machine) if record else MachineGraphs(())
    found = []
    for case in compared.cases:
        ratio = graphs.alone(case, compared.before, compared.after)
        if ratio is None:
            _, reason = case.why_no_ratio(compared.before, compared.after)
            difference = Difference(
                case=case.case, verdict=answers.UNMEASURED, reason=reason, machine=machine
            )
        else:
            difference = answers.measured_difference(ratio, machine)
            if difference.differs and not ratio.exact and ratio.rounds < DEFAULT.fewest_rounds:
                difference.verdict, difference.worse = answers.UNCERTAIN, False
        difference.case, difference.sides = case.case_of(compared.before), list(sides)
        difference.against = case.case_of(compared.after) if case.cases else ""
        found.append(difference)
    return found


def report(compared: Compared, found: Sequence[Difference], before: str, after: str) -> str:
    """Return the cases, differences first and the largest on top, then those without a value.

    ``found`` is what `differences_of` returns.
    """
    shown = sorted((case for case in found if any(case.values)), key=_order)
    ratios = [case for case in found if case.interval is not None]
    any_exact = any(ratio.exact for ratio in compared.ratios)
    head = ("case", "before", "after", "change", "interval", "rounds", "verdict")
    parts = [
        f"**{after}** against **{before}**",
        table(head, list(map(_row, shown))),
        f"The interval holds the ratio with {quantities.share(CONFIDENCE)} confidence. {_RULE}"
        + (" Exact values differ if they are not equal." if any_exact else "")
        + (f" {_CPU_TIME}" if any(case.clock for case in found) else ""),
    ]
    if shared := [f"`{case.case}`" for case in compared.cases if case.one_setup]:
        parts.append(f"{_ONE_SETUP} {', '.join(shared)}.")
    unmeasured = compared.unmeasured.items()
    for label, is_skipped in (("Skipped", True), ("Failed", False)):
        reasons = [
            f"{label}: {case}: {why}"
            for case, (outcome, why) in unmeasured
            if is_skipped == (outcome is Outcome.SKIPPED)
        ]
        if reasons:
            parts.append("\n".join(reasons))
    if ratios:
        parts.append(_summary(ratios))
    return "\n\n".join(parts)


def _order(case: Difference) -> tuple[bool, bool, float]:
    size = abs(math.log(case.ratio)) if case.interval and case.ratio else 0.0
    return case.interval is None, not case.differs, -size


def _summary(ratios: Sequence[Difference]) -> str:
    kind = "time" if all(metric_of(case.unit) == "time" for case in ratios) else "memory"
    worse, better = (answers.word_of(answer, kind) for answer in (Verdict.WORSE, Verdict.BETTER))
    changed = [case.worse for case in ratios if case.differs]
    count_of_worse, same = sum(changed), len(ratios) - len(changed)
    counts = f"{count_of_worse} {worse}, {len(changed) - count_of_worse} {better}, {same} same"
    for verdict in (answers.UNKNOWN, answers.UNCERTAIN):
        count = sum(case.verdict == verdict for case in ratios)
        counts += f" ({count} of these {verdict})" if count else ""
    widest = max(
        math.log(high / low) / 2 for low, high in filter(None, (c.interval for c in ratios))
    )
    cases = quantities.counted(len(ratios), "case")
    return f"Of {cases} {counts}; the widest interval is ±{quantities.share(widest)}."


def _row(case: Difference) -> tuple[str, ...]:
    rounds = str(case.rounds or ("" if case.reason else "exact"))
    end = case.change, case.ends, rounds, case.reason or case.verdict
    return f"`{case.case}`", *case.values, *end
