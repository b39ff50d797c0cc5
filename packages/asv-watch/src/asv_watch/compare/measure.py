"""Measures versions interleaved, case by case, stores the result, and reports it as Markdown."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from asv_watch import answers
from asv_watch.answers import Difference
from asv_watch.comparison import Comparison, Conditions, Kind, Outcome, Ratio, Sitting, metric_of
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import find_unfinished
from asv_watch.engine.processes import recipe_of_samples
from asv_watch.engine.rounds import DEFAULT, Sampling
from asv_watch.engine.workplace import Side, Workplace
from asv_watch.errors import WatchError
from asv_watch.judge.graph import MachineGraphs, machine_graphs
from asv_watch.machine.budget import Budget, run_within
from asv_watch.machine.facts import machine_state
from asv_watch.records.store import SittingWriter, read_sitting
from asv_watch.statistics.ratio import CONFIDENCE, ESTIMATE
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict
from asv_watch.text import quantities
from asv_watch.text.terminal import table


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of a measurement, as a comparison of two of its versions."""

    cases: tuple[Comparison, ...]
    before: int
    """Index of a version."""
    after: int
    record: Path | None
    """File of the record; ``None`` if a side is not committed, so that nothing is stored."""

    @property
    def ratios(self) -> list[Ratio]:
        """The ratios of this sitting alone."""
        ratios = (case.ratio(self.before, self.after) for case in self.cases)
        return [ratio for ratio in ratios if ratio is not None]

    @property
    def failures(self) -> dict[str, str]:
        """Maps each case that failed on a side to the reason."""
        reasons = self.unmeasured.items()
        return {case: why for case, (outcome, why) in reasons if outcome is not Outcome.SKIPPED}

    @property
    def unmeasured(self) -> dict[str, tuple[Outcome, str]]:
        """Maps each case without a ratio to the outcome, and the reason."""
        return {
            case.case: case.why_no_ratio(self.before, self.after)
            for case in self.cases
            if case.ratio(self.before, self.after) is None
        }

    def between(self, before: int, after: int) -> Compared:
        """Return the comparison of two versions, by index.

        Raises:
            WatchError: no case ran on both.
        """
        compared = dataclasses.replace(self, before=before, after=after)
        if self.cases and not compared.ratios:
            _, reason = self.cases[0].why_no_ratio(before, after)
            raise WatchError(f"no case ran on both sides ({reason})")
        return compared


def measure(
    workplace: Workplace,
    sides: Sequence[Side],
    cases: Sequence[MeasurableCase],
    kind: Kind | None = None,
    sampling: Sampling = DEFAULT,
    extra: Sequence[Comparison] = (),
    budget: Budget | None = None,
    conditions: Conditions | None = None,
) -> Compared:
    """Measure sides interleaved, first times and then other values; store each finished case.

    An interrupted measurement continues with the rounds that it had stored, and so does one whose
    time was over. A working tree is recognised by its content.

    Args:
        workplace: the checkout, whose suites measure all sides.
        sides: the versions; each is compared with the next.
        cases: what to measure.
        kind: by default it follows from what differs between the sides.
        sampling: how many rounds a case gets.
        extra: results of the same comparison that no suite measures; stored first.
        budget: time limit; when it is over, the finished cases are returned, and what the rounds
            tell so far of others.
        conditions: of the last version, if this is also a run of it.

    Returns:
        The first version against the last.
    """
    sitting = _sitting(workplace, sides, kind, sampling, conditions)
    results = workplace.configuration.results
    unfinished = find_unfinished(workplace, sides, sitting.kind if sitting else "compare")
    writer, finished = None, dict[str, Comparison]()
    if sitting is not None:
        sitting = unfinished.continued(sitting)
        writer, finished = SittingWriter(results, sitting), read_sitting(results, sitting)
    elif all(side.version for side in sides):
        unfinished.forget()  # something else may be installed for the interpreters by now
    names = [*(result.case for result in extra), *(case.name for case in cases)]
    measured = {name: finished[name] for name in names if name in finished}

    def store(result: Comparison) -> None:
        if writer is not None:
            writer.add(result)
        measured[result.case] = result

    for result in extra:
        if result.case not in finished:
            store(result)
    missing = [case for case in cases if case.name not in finished]
    run_within(budget, partial(unfinished.measure, missing, store, sampling, budget))
    so_far = unfinished.so_far([case for case in missing if case.name not in measured], sampling)
    if writer is not None:
        writer.end(machine_state() if conditions else None)
    record = writer.path if writer else None
    return Compared((*measured.values(), *so_far), 0, len(sides) - 1, record)


def _sitting(
    workplace: Workplace,
    sides: Sequence[Side],
    kind: Kind | None,
    sampling: Sampling,
    conditions: Conditions | None,
) -> Sitting | None:
    """Describe a measurement; ``None`` if it cannot be stored.

    A side is not committed then, or the interpreters hold the same releases.
    """
    versions = tuple(side.version for side in sides if side.version is not None)
    has_one_name = len(set(versions)) == 1 < len({side.python for side in sides})
    if len(versions) < len(sides) or has_one_name:
        return None
    planted = sides[-1].planted
    if planted:
        kind = "planted"
    elif any(side.other_cases for side in sides):
        kind = "cases"
    elif kind is None:
        commits = {version.commit for version in versions}
        kind = "release" if len(commits) == 1 else "compare"
        kind = "null" if len(set(versions)) == 1 else kind
    recipe = dataclasses.asdict(sampling)
    del recipe["usual_spread"]  # of the machine today, so no two comparisons would have one recipe
    del recipe["all_sides"]  # says nothing about a case that was measured
    if not sampling.change_if_busy:
        del recipe["change_if_busy"]  # as in all comparisons that were stored before it existed
    return Sitting(
        kind=kind,
        at=int(time.time()),
        machine=workplace.machine,
        versions=versions,
        conditions=conditions,
        recipe={
            **recipe,
            **recipe_of_samples(sides),
            "estimate": ESTIMATE,
            **({"planted": planted} if planted else {}),
        },
    )


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
    if compared.record is None:
        graphs = MachineGraphs(())
    else:
        folder = compared.record.parent
        graphs = machine_graphs(folder.parent, folder.name)
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
    [kind, *others] = {metric_of(case.unit) for case in ratios}
    worse, better = (
        answers.word_of(answer, "memory" if others else kind)
        for answer in (Verdict.WORSE, Verdict.BETTER)
    )
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
