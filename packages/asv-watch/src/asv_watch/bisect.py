"""Finds the commits, or the releases of a requirement, that changed a case.

A range whose ends differ is split at a midpoint, and both halves are compared, so that several
changes in one range are all found. The samples of both ends and of the midpoint are interleaved in
one measurement, which has three sides instead of four.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from asv_watch import answers
from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison, Ratio
from asv_watch.engine.cases import MeasurableCase, find_case
from asv_watch.engine.measuring import measure
from asv_watch.engine.rounds import PRECISE
from asv_watch.engine.workplace import Side, Workplace, commit_side, open_workplace, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.graph import CaseGraph
from asv_watch.options import SIDE, Machine, OneCase
from asv_watch.statistics import rule
from asv_watch.statistics.rule import MINIMUM_EFFECT, Answer
from asv_watch.text import quantities
from asv_watch.versions.git import ask_git, commits_changing

Candidate = tuple[str, EnvironmentSpec]
"""A commit and the environment in which it is measured."""
Split = Callable[[int, int, int], tuple[Answer, Answer]]
"""Takes the indices of two versions and of a midpoint between them; compares the first version
with the midpoint, and the midpoint with the second version.

Raises:
    WatchError: the midpoint cannot be measured, such as a commit that does not run.
"""


def narrow(versions: Sequence[int], split: Split) -> Iterator[tuple[int, int]]:
    """Find the changes among versions, by index, the first and the last of which differ.

    Yields:
        For each change, in order, the version before it and the one after it. They are neighbours,
        unless what lies between cannot be measured, or differs from neither clearly.
    """
    before, *between, after = versions
    middle = (before + after) / 2
    for midpoint in sorted(between, key=lambda index: abs(index - middle)):
        try:
            first, second = split(before, after, midpoint)
        except WatchError:
            between.remove(midpoint)
            continue
        unclear = Answer.UNKNOWN, Answer.SAME  # then the change must be in the unclear half
        in_first = first is Answer.DIFFERENT or (first, second) == unclear
        in_second = second is Answer.DIFFERENT or (second, first) == unclear
        index = between.index(midpoint)
        if in_first:
            yield from narrow([before, *between[: index + 1]], split)
        if in_second:
            yield from narrow([*between[index:], after], split)
        if in_first or in_second:
            return
        break
    yield before, after


_RESOLUTION = 1 / 4
"""Changes below this share of the whole change are not searched: detecting them would take many
rounds."""
_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Culprit:
    """A change between two versions, measured."""

    commit: str
    """Full hash of the version after it."""
    cause: str
    """The commit or the release that made it."""
    between: int
    """Number of versions between the two, which could not be measured or gave no clear result;
    the change may lie in any of them."""
    ratio: Ratio

    def __str__(self) -> str:
        return f"{self.ratio}: {self.cause}"


@dataclass
class _Bisection:
    workplace: Workplace
    case: MeasurableCase
    candidates: Sequence[Candidate]
    """Oldest first."""
    resolution: float = MINIMUM_EFFECT
    """Smallest relative change that is looked for."""
    _measured: list[tuple[tuple[int, ...], Comparison]] = field(default_factory=list)

    def side(self, index: int) -> Side:
        """Return one candidate, with its package."""
        return commit_side(self.workplace, *self.candidates[index])

    def ratio(self, before: int, after: int) -> Ratio:
        """Return the ratio of two candidates that were measured, from all their rounds."""
        candidates, newest = self._with_both(before, after)[-1]
        alone = newest.ratio(candidates.index(before), candidates.index(after))
        if alone is not None and alone.exact:
            return alone
        # What was measured within one bisection is one sitting.
        ratio = CaseGraph(self._measured, between=0.0).ratio(before, after)
        assert ratio is not None  # noqa: S101 - both were measured together
        return ratio

    def culprit(self, before: int, after: int) -> Culprit:
        """Name what made the change between two candidates."""
        commit, environment = self.candidates[after]
        cause = environment.label
        if environment == self.candidates[before][1]:
            repository = self.workplace.configuration.repository
            cause = ask_git(repository, "log", "-1", "--format=%h %s", commit)
        between = after - before - 1
        if between:
            earlier = "the version" if between == 1 else f"one of {between} versions"
            cause += f", or {earlier} before it, without a clear result"
        cause += f" (after {self.side(before).name})"
        return Culprit(commit, cause, between, ratio=self.ratio(before, after))

    def split(self, before: int, after: int, midpoint: int) -> tuple[Answer, Answer]:
        """Compare a midpoint with both ends, as `Split` does."""
        self._measure(before, midpoint, after)
        return self.compare(before, midpoint), self.compare(midpoint, after)

    def compare(self, before: int, after: int) -> Answer:
        """Tell whether two candidates differ, after at most `_ATTEMPTS` measurements."""
        for attempt in range(_ATTEMPTS):
            if len(self._with_both(before, after)) <= attempt:
                self._measure(before, after)
            ratio = self.ratio(before, after)
            answer = self._answer(ratio)
            # As many rounds again would narrow what is too noisy by only a third.
            if answer is not Answer.UNKNOWN or ratio.is_too_noisy:
                break
        word = answer.value
        if answer is Answer.DIFFERENT:
            word = answers.word_of(ratio.verdict, ratio.metric)
        print(f"  {word}: {ratio}", flush=True)
        return answer

    def _answer(self, ratio: Ratio) -> Answer:
        """Tell whether two candidates differ by `resolution`; exact values, if they differ."""
        if ratio.exact:
            return Answer.DIFFERENT if ratio.differs else Answer.SAME
        half = math.log(ratio.interval[1] / ratio.interval[0]) / 2
        least = math.log1p(self.resolution)
        difference = abs(math.log(ratio.ratio))
        return rule.answer(difference, half, ratio.rounds - 1, least, counts_from=least)

    def _with_both(self, before: int, after: int) -> list[tuple[tuple[int, ...], Comparison]]:
        return [each for each in self._measured if {before, after} <= set(each[0])]

    def _measure(self, *candidates: int) -> None:
        """Measure candidates interleaved, none of which may fail."""
        sampling = replace(PRECISE, half_width=self.resolution / 2, all_sides=True)
        try:
            sides = [self.side(index) for index in candidates]
            print(" against ".join(side.name for side in reversed(sides)), flush=True)
            measured = measure(self.workplace, sides, [self.case], "bisect", sampling)
            for index in range(len(sides) - 1):
                measured.between(index, index + 1)
        except WatchError as error:
            print(f"  cannot be measured: {error}", flush=True)
            raise
        self._measured.append((candidates, measured.cases[0]))


def find_culprits(
    workplace: Workplace, case: MeasurableCase, candidates: Sequence[Candidate]
) -> list[Culprit]:
    """Narrow the change of a case between the first and the last candidate.

    Every comparison is stored with kind ``bisect``.

    Returns: The changes, oldest first; empty if the first and last candidate do not differ.

    Raises:
        WatchError: an end cannot be measured, or noise hides whether the ends differ.
    """
    bisection = _Bisection(workplace, case, candidates)
    last = len(candidates) - 1
    try:
        answer = bisection.compare(0, last)
    except WatchError as error:
        raise WatchError(f"the ends of the range cannot be compared: {error}") from error
    whole = bisection.ratio(0, last)
    if answer is Answer.UNKNOWN:
        raise WatchError(
            f"{whole}: {answers.UNKNOWN} whether {case.name} changed; try again at a quieter time"
        )
    if answer is Answer.SAME:
        return []
    if not whole.exact:
        change = abs(math.log(whole.ratio))
        bisection.resolution = max(MINIMUM_EFFECT, math.expm1(change * _RESOLUTION))
    return [
        bisection.culprit(before, after)
        for before, after in narrow(range(len(candidates)), bisection.split)
    ]


def candidates_between(workplace: Workplace, before: Side, after: Side) -> list[Candidate]:
    """List the candidates between two sides, both included, oldest first.

    The side after is the same commit with another release, or a later commit with the same one.

    Raises:
        WatchError: the sides differ in commit and release or in neither, ``before`` is no
            ancestor of ``after``, or no commit between them can change a measured value.
    """
    if before.version is None or after.version is None:
        raise WatchError("a bisection compares commits; commit the changes first")
    first, last = before.version.commit, after.version.commit
    if first == last:
        environments = workplace.configuration.environments
        low, high = sorted(map(environments.index, (before.environment, after.environment)))
        if low == high:
            raise WatchError(f"{before.name} and {after.name} are the same; there is no range")
        releases = [(first, between) for between in environments[low : high + 1]]
        return releases if releases[0][1] == before.environment else releases[::-1]
    if before.environment != after.environment:
        raise WatchError(
            "a bisection is over commits or over releases, not both; give both sides the "
            "same release, or both the same commit"
        )
    repository, paths = workplace.configuration.repository, workplace.configuration.measured_paths
    commits = commits_changing(repository, f"{first}..{last}", paths)
    if ask_git(repository, "merge-base", first, last) != first or not commits:
        raise WatchError(
            f"there is no commit between {before.name} and {after.name} that can change a "
            "measured value; the first has to be an ancestor of the second"
        )
    return [(commit, before.environment) for commit in (first, *commits)]


def bisect(
    *,
    cases: OneCase,
    before: Annotated[str, typer.Option(metavar=SIDE, help="Start of the range.")],
    after: Annotated[
        str,
        typer.Option(metavar=SIDE, help="End of the range: a later commit, or another release."),
    ] = "HEAD",
    json_file: answers.JsonFile = "",
    machine: Machine = "",
) -> ExitStatus:
    """Narrow the change of one case between two sides, and print the cause.

    Raises:
        WatchError: the pattern matches no case or several, there is no range between the
            sides, or noise hides the change.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    with open_workplace(Path.cwd(), "bisect", release="all", machine=machine) as workplace:
        ends = side(workplace, before), side(workplace, after)
        candidates = candidates_between(workplace, *ends)
        case, status = find_case(workplace, ends, selection)
        count = len(candidates) - 1  # the first one is what the others are compared with
        noun = "release" if candidates[0][0] == candidates[-1][0] else "commit"
        print(f"{case.name}: {quantities.counted(count, noun)}", flush=True)
        culprits = find_culprits(workplace, case, candidates)
    if not culprits:
        print("\nThe ends of the range do not differ.")
    answer = answers.Answer("bisect", before, after)
    for culprit in culprits:
        print(f"\n{culprit}")
        difference = answers.measured_difference(culprit.ratio, workplace.machine)
        difference.commits = [culprit.commit]
        if culprit.between:
            difference.reason = f"or one of {culprit.between} versions before it, without a result"
        answer.differences.append(difference)
    answers.write_answer(answer, json_file)
    return status
