"""The gate's result for one head commit, its comment, and when a case is slower for certain.

A gate tests many cases, so a 99 % interval that excludes 1 is not enough: 1 in 200 harmless cases
would be called slower. A case is called slower if an interval with the error of two 99 % intervals
together excludes 1. This error is divided among the repeated tests of a case.

The comment is Markdown that begins with its answer. Names and reasons come from the code of a
pull request. They are printed as code, inside which GitHub interprets nothing; everything else is
words, numbers and tables. The workflow that posts the comment,
`.github/workflows/gate-comment.yml`, refuses any other text.
"""

import math
import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from asv_watch.answers import UNKNOWN, UNMEASURED, Answer, Difference, measured_difference
from asv_watch.asv.selection import pattern_of
from asv_watch.comparison import Comparison, Ratio
from asv_watch.errors import WatchError
from asv_watch.judge.graph import MachineGraphs
from asv_watch.progress import human_time
from asv_watch.records.notes import ChangeNote
from asv_watch.statistics import rule
from asv_watch.statistics.ratio import CONFIDENCE
from asv_watch.statistics.rule import Verdict
from asv_watch.text import quantities
from asv_watch.text.terminal import code

ROUNDS = (5, 8, 12, 18, 27, 40, 60)
"""Numbers of rounds after which a case is tested: it is decided, or gets more rounds."""
ERROR = ((1 - CONFIDENCE) / 2) ** 2
"""Chance that a harmless case is called slower."""


def answer_to(change: Ratio, threshold: float) -> rule.Answer:
    """Tell whether a head is worse for certain, or not by a share (0.03 is 3 %); else unknown.

    All tests of a case together have an error of `ERROR`.
    """
    if change.exact:
        return rule.Answer.DIFFERENT if change.verdict is Verdict.WORSE else rule.Answer.SAME
    low, high = change.interval
    worse = math.log(slowdown_factor(change))
    freedom = change.rounds - 1  # of rounds; sittings would add to it, so this is cautious
    error = ERROR / len(ROUNDS)
    return rule.answer(
        worse, math.log(high / low) / 2, freedom, math.log1p(threshold), error=error
    )


def is_certain(change: Ratio) -> bool:
    """Tell whether a head is worse for certain, by any share."""
    return answer_to(change, 0.0) is rule.Answer.DIFFERENT


def judged_ratios(measured: Sequence[Comparison], graphs: MachineGraphs) -> tuple[Ratio, ...]:
    """Return one or two ratios of a case: the first decides, the last shows the size.

    The first rounds of a slower case were chosen for being slow, so fresh ones show its size.
    Where these alone do not show the change, all rounds together do: what a case is called and
    the interval beside it never contradict each other.

    Returns:
        The ratio of all rounds, then that of the fresh ones if it agrees; empty without a ratio.
    """
    first, *again = measured
    pooled = first.with_rounds_of(again[0]) if again else first
    ratios = [graphs.alone(case, 0, 1, case.least_spread) for case in (pooled, *again)]
    known = tuple(ratio for ratio in ratios if ratio is not None)
    if len(known) < len(ratios):
        return ()
    agrees = known[-1].differs and known[-1].verdict is known[0].verdict
    return known if agrees else known[:1]


def slowdown_factor(change: Ratio) -> float:
    """Return how many times slower or larger a head is, or smaller where more is better.

    It is infinite if an exact value got worse and one side is zero or below.
    """
    if not change.higher_is_better:
        return change.ratio
    return 1 / change.ratio if change.ratio else math.inf


WORSE, BETTER, SAME = Verdict.WORSE.value, Verdict.BETTER.value, Verdict.SAME.value
"""States of a case: worse for certain, better, same."""
NOT_CERTAIN = "worse, but not for certain"
"""State of a case that is worse only by its 99 % interval."""
FAILED, SKIPPED = "failed", "skipped"


class GateResult(msgspec.Struct, kw_only=True):
    """The result of the gate for one head commit, which grows as cases are measured."""

    base: str
    """Full hash of the merge base."""
    head: str
    environment: str
    """Such as ``numpy 2.4.0``."""
    machine: str
    pattern: str
    """Regular expression that chose the cases; empty if the changed files did."""
    notes: tuple[ChangeNote, ...] = ()
    """The slowdowns that the head calls expected in ``results/notes.toml``."""
    threshold: float
    """Smallest slowdown of a case that fails the gate (0.03 is 3 %)."""
    thresholds: dict[str, float] = {}
    """Those that asv.conf.json declares, by the names of cases."""
    available: int = 0
    """Number of cases from which these were chosen."""
    limit_s: float
    seconds: float = 0.0
    """Duration of building and measuring."""
    ratios: dict[str, tuple[Ratio, ...]] = {}
    """Head against base, by asv's names of the cases: one, and for a slower case a second one that
    shows its size, because the first is biased by selection."""
    failed: dict[str, str] = {}
    """Why cases could not be measured on the head."""
    skipped: dict[str, str] = {}
    """Why cases cannot be compared here."""
    left: Sequence[str] = ()
    """Cases that were chosen and not measured."""
    is_prepared: bool = False
    """Whether both commits were built and the cases chosen within the limit."""

    @property
    def cases(self) -> tuple[str, ...]:
        """All that were chosen."""
        return (*self.ratios, *self.left, *self.failed, *self.skipped)

    @property
    def is_timed(self) -> bool:
        """Whether its cases time something; otherwise they measure amounts."""
        return all(ratio.unit == "seconds" for ratios in self.ratios.values() for ratio in ratios)

    def limit(self, case: str) -> float:
        """Return the threshold of a case: its own, or else the general one."""
        return self.thresholds.get(case, self.threshold)

    def state(self, case: str) -> str:
        """Return the state of one of the cases."""
        if case in self.failed:
            return FAILED
        if case in self.skipped:
            return SKIPPED
        if case not in self.ratios:
            return UNMEASURED
        ratio = self.ratios[case][0]
        if ratio.is_too_noisy:
            return UNKNOWN
        is_uncertain = ratio.verdict is Verdict.WORSE and not is_certain(ratio)
        return NOT_CERTAIN if is_uncertain else ratio.verdict.value

    def in_state(self, *states: str) -> list[str]:
        """List the cases in some states, the largest change first."""
        cases = [case for case in self.cases if self.state(case) in states]
        return sorted(cases, key=self._factor, reverse=True)

    def _factor(self, case: str) -> float:
        """`slowdown_factor` as measured last; 0 if it is unknown."""
        return slowdown_factor(self.ratios[case][-1]) if case in self.ratios else 0.0

    def accepted(self, case: str) -> str:
        """Return what the head's last note about a slower case says; empty for any other case."""
        if self.state(case) not in {WORSE, NOT_CERTAIN}:
            return ""
        about = [note for note in self.notes if note.is_about(self.machine, case)]
        return about[-1].in_words if about else ""

    def too_slow(self) -> list[str]:
        """List the cases that are slower by their threshold or more, accepted or not."""
        return [
            case for case in self.in_state(WORSE) if self._factor(case) >= 1 + self.limit(case)
        ]

    def failing(self) -> list[str]:
        """List the cases of `too_slow` that no note accepts."""
        return [case for case in self.too_slow() if not self.accepted(case)]

    def is_open(self, case: str) -> bool:
        """Tell whether the interval of a measured case reaches its threshold."""
        ratios = self.ratios.get(case, ())
        return bool(ratios) and answer_to(ratios[0], self.limit(case)) is rule.Answer.UNKNOWN

    def uncertain(self) -> list[str]:
        """List the cases not called slower whose interval reaches the threshold."""
        return list(filter(self.is_open, self.in_state(SAME, UNKNOWN)))

    @property
    def outcome(self) -> Literal["passed", "failed", "undecided"]:
        """Whether the head may be merged: it has failed if a case failed or is `failing`.

        It is undecided if a case is slower but not for certain, and no note accepts it; if nothing
        is known of any case (not measured, or its interval reaches the threshold); or if cases are
        left although the interval of a measured one reaches the threshold.
        """
        if self.failed or self.failing():
            return "failed"
        uncertain = len(self.uncertain())
        is_undecided = (
            not self.is_prepared
            or not all(map(self.accepted, self.in_state(NOT_CERTAIN)))
            or (bool(self.left or uncertain) and len(self.ratios) <= uncertain)
            or bool(self.left and uncertain)
        )
        return "undecided" if is_undecided else "passed"

    def difference(self, case: str) -> Difference:
        """Describe one of the cases in the schema of all commands."""
        if case not in self.ratios:
            reason = self.failed.get(case) or self.skipped.get(case, "")
            return Difference(case=case, verdict=UNMEASURED, reason=reason, machine=self.machine)
        difference = measured_difference(self.ratios[case][-1], self.machine)
        difference.expected = self.accepted(case)
        if self.state(case) == NOT_CERTAIN:
            difference.reason = "not for certain"
        return difference

    def answer(self) -> Answer:
        """Describe the result in the schema of all commands."""
        return Answer(
            command="gate",
            before=self.base,
            after=self.head,
            differences=list(map(self.difference, self.cases)),
            outcome=self.outcome,
        )


def parse_share(text: str) -> float:
    """Read a threshold such as ``3%`` or ``2.5 %``; return the share.

    Raises:
        WatchError: it is not a percentage from 0 to 900 %.
    """
    match = re.fullmatch(r" ?([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%? ?", text)
    if match is None or float(match[1]) > 900:
        raise WatchError(f"threshold {text[:100]!r} is not a percentage; give one such as 3%")
    return float(match[1]) / 100


LONGEST = 60_000
"""Most bytes of a comment; GitHub takes 65,536 characters."""
_HEAD = "| case | before | after | change | verdict |\n|---|---|---|---|---|"


def sentence(result: GateResult) -> str:
    """Say the answer: ``2 of 26 cases slower, worst +6.2 % (+5.4 to +7.0 %)``."""
    limit = human_time(result.limit_s)
    if not result.is_prepared:
        return f"Undecided: building and choosing cases took all of {limit}; nothing was measured"
    if not result.cases:
        return "No changed file can change a measured value, so nothing was measured"
    slower, word = result.in_state(WORSE), _in_words(WORSE, result)
    answer = "Undecided: " if result.outcome == "undecided" else ""
    answer += f"{len(slower)} of {len(result.ratios)} cases {word}"
    if slower:
        answer += f", worst {result.ratios[slower[0]][-1]}"
    not_measured = "not measured" if result.outcome == "failed" else f"not measured in {limit}"
    others = (
        (result.in_state(NOT_CERTAIN), f"{word}, but not for certain"),
        (result.uncertain(), f"too noisy to exclude {quantities.share(result.threshold)}"),
        (result.failed, "failed"),
        (result.left, not_measured),
    )
    more = [f"{len(cases)} {words}" for cases, words in others if cases]
    return f"{answer}; {', '.join(more)}" if more else answer


def verdict_line(result: GateResult) -> str:
    """Say whether the gate passes, why, and what can be done if it does not."""
    too_slow, failing = result.too_slow(), result.failing()
    slower = f"{_in_words(WORSE, result)} by {quantities.share(result.threshold)} or more"
    if result.outcome == "failed":
        against = [f"{len(failing)} {slower}"] if failing else []
        against += [f"{len(result.failed)} failed"] if result.failed else []
        remedy = (
            f" To accept that, give {result.head[:8]} a `[[change]]` of kind `expected` in "
            "`notes.toml`."
        )
        return f"**The gate fails: {', '.join(against)}.**{remedy if failing else ''}"
    if result.outcome == "undecided":
        remedy = "give it more time (`--limit`), fewer cases or a quieter machine"
        return f"**The gate is undecided: {remedy}.**"
    if too_slow:
        return f"The gate passes although {len(too_slow)} {slower}: `notes.toml` accepts that."
    return "The gate passes."


def _in_words(state: str, result: GateResult) -> str:
    if not result.is_timed:
        return state
    return state.replace(WORSE, "slower").replace(BETTER, "faster")


def comment(result: GateResult) -> str:
    """Write the whole comment."""
    parts = [f"{sentence(result)}.", verdict_line(result)]
    first = result.in_state(WORSE, NOT_CERTAIN, FAILED)
    rest = result.in_state(BETTER, UNKNOWN, SAME, SKIPPED)
    end = [_how(result, (first or rest)[0])] if first or rest else []
    room = LONGEST - len("".join([*parts, *end]).encode()) - 500
    for cases in (first, rest):
        rows = []
        for row in (_row(result, case) for case in cases):
            room -= len(row.encode()) + 1
            if room < 0:
                break
            rows.append(row)
        if not rows:
            continue
        text = "\n".join([_HEAD, *rows])
        if len(rows) < len(cases):
            text += f"\n\n{len(cases) - len(rows)} more do not fit here."
        if cases is rest:
            others = quantities.counted(len(cases), "other")
            text = f"<details><summary>{others}</summary>\n\n{text}\n\n</details>"
        parts.append(text)
    return "\n\n".join([*parts, *end]) + "\n"


def _row(result: GateResult, case: str) -> str:
    verdict = _in_words(result.state(case), result)
    reason = result.failed.get(case) or result.skipped.get(case) or result.accepted(case)
    if reason:
        verdict = f"{verdict}: {code(reason)}"
    if case in result.thresholds:
        verdict += f" (its threshold is {quantities.share(result.limit(case))})"
    cells = ["", "", ""]
    if case in result.ratios:
        cells = [*map(_value, result.difference(case).values), str(result.ratios[case][-1])]
    return f"| {' | '.join([code(case), *cells, verdict])} |"


def _value(text: str) -> str:
    """Write a value with its unit, which is an untrusted text too."""
    return text if re.fullmatch(r"[-+\d.,e]+( [\w/%]+)?", text) else code(text)


def _how(result: GateResult, first: str) -> str:
    chosen = "that the changed files touch"
    if result.pattern:
        chosen = f"that match {code(result.pattern)}"
    values = "" if result.is_timed else " An exact value is a change if it differs at all."
    option = "" if result.is_timed else " --values"
    again = (
        f"asv-watch compare --before {result.base[:8]} --after {result.head[:8]} "
        f"--cases '^{pattern_of(first)}$'{option}"
    )
    return (
        f"{result.head[:8]} against the merge base {result.base[:8]}, {code(result.environment)}, "
        f"on {code(result.machine)}, interleaved, in {human_time(result.seconds)}: "
        f"{len(result.cases)} of {result.available} cases, {chosen}. "
        f"A case is {_in_words(WORSE, result)} if its interval at an error of 1 in "
        f"{1 / ERROR:,.0f} leaves out 1. Its size is shown with its "
        f"{quantities.share(CONFIDENCE)} confidence interval, from further rounds where there "
        f"was time.{values} "
        f"The first case again: {code(again)}."
    )
