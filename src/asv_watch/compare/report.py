"""The report of an interleaved comparison: Markdown, aligned for the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from asv_watch.answers import (
    UNKNOWN,
    Difference,
    exact_difference,
    measured_difference,
    unmeasured_difference,
    word_of,
    word_of_ratio,
)
from asv_watch.compare.measure import Compared
from asv_watch.judge.graph import MachineGraphs, PairRatio, machine_graphs
from asv_watch.records.comparisons import CaseValues
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.statistics.rule import (
    MINIMUM_EFFECT,
    Verdict,
    is_too_noisy,
    value_ratio,
    value_verdict,
    verdict,
)
from asv_watch.text import quantities
from asv_watch.text.markdown import table

RULE = (
    "A difference is a ratio whose interval excludes 1 and that is "
    f"{quantities.share(MINIMUM_EFFECT)} or more away from 1."
)
_CPU_TIME = (
    "CPU time replaces wall time here, because wall time also counts other work on the machine."
)


def measured_ratios(compared: Compared) -> list[PairRatio]:
    """Return the ratios of a comparison, with the precision that its machine has shown."""
    if compared.path is None:  # a side is not committed, so nothing is stored
        graphs = MachineGraphs(())
    else:
        machine = compared.path.parents[1]
        graphs = machine_graphs(machine.parent, machine.name)
    return list(map(graphs.single, compared.ratios))


def differences(compared: Compared, machine: str, sides: Sequence[str] = ()) -> list[Difference]:
    """Return the cases of a comparison as JSON has them; ``sides`` names both if others follow."""
    found = [
        *(measured_difference(ratio, machine) for ratio in measured_ratios(compared)),
        *(exact_difference(values, machine) for values in compared.values),
        *(unmeasured_difference(case, machine) for case in compared.unmeasured),
    ]
    for difference in found:
        difference.sides = list(sides)
    return found


def report(compared: Compared, before: str, after: str) -> str:
    """Return the cases, differences first and the largest on top, then those without a value."""
    ratios_of_cases = measured_ratios(compared)
    ratios = sorted(
        ratios_of_cases,
        key=lambda case: (verdict(case) is Verdict.SAME, -abs(math.log(case.ratio))),
    )
    values = sorted(compared.values, key=lambda case: value_verdict(case) is Verdict.SAME)
    rows = [*map(_row, ratios), *map(_row_of_values, values)]
    head = ("case", "before", "after", "change", "interval", "rounds", "verdict")
    parts = [
        f"**{after}** against **{before}**",
        table(head, rows),
        f"The interval holds the ratio with {quantities.share(CONFIDENCE)} confidence. {RULE}"
        + (" Exact values differ if they are not equal." if values else "")
        + (f" {_CPU_TIME}" if any(ratio.clock for ratio in ratios) else ""),
    ]
    for label, reasons in (
        ("Skipped", {case.case: case.skipped for case in compared.unmeasured if case.skipped}),
        ("Failed", {case.case: case.failed for case in compared.unmeasured if case.failed}),
    ):
        if reasons:
            parts.append("\n".join(f"{label}: {name}: {why}" for name, why in reasons.items()))
    if ratios_of_cases:
        parts.append(summary(ratios_of_cases))
    return "\n\n".join(parts)


def summary(ratios: Sequence[PairRatio]) -> str:
    """Say how many cases are slower, faster and the same, and how wide the widest interval is."""
    verdicts = [verdict(case) for case in ratios]
    [kind, *others] = {case.kind for case in ratios}
    counts = ", ".join(
        f"{verdicts.count(answer)} {word_of(answer, 'memory' if others else kind)}"
        for answer in (Verdict.WORSE, Verdict.BETTER, Verdict.SAME)
    )
    unknown = sum(map(is_too_noisy, ratios))
    counts += f" ({unknown} of these {UNKNOWN})" if unknown else ""
    widest = max(math.log(case.interval[1] / case.ratio) for case in ratios)
    cases = quantities.counted(len(ratios), "case")
    return f"Of {cases} {counts}; the widest interval is ±{quantities.share(widest)}."


def _row(case: PairRatio) -> tuple[str, ...]:
    return (
        f"`{case.case}`",
        quantities.quantity(case.before, case.unit),
        quantities.quantity(case.after, case.unit),
        quantities.change(case.ratio, case.kind),
        quantities.interval(case.interval, case.clock),
        str(case.rounds),
        word_of_ratio(case),
    )


def _row_of_values(case: CaseValues) -> tuple[str, ...]:
    sides = [
        quantities.quantity(side, case.unit) if isinstance(side, float | int) else ""
        for side in (case.before, case.after)
    ]
    if not case.exact:
        return (f"`{case.case}`", *sides, "", "", "", "zero or below, so without a ratio")
    change = quantities.change(value_ratio(case), "count")
    answer = value_verdict(case) or Verdict.SAME
    return (f"`{case.case}`", *sides, change, "", "exact", answer.value)
