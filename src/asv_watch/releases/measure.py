"""Compares torch releases at one commit of this package, and resumes where it stopped."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from asv_watch.asv.settings import Pair
from asv_watch.checkout.workplace import Workplace
from asv_watch.compare.measure import Compared, compare
from asv_watch.errors import WatchError
from asv_watch.explain.operators import explain
from asv_watch.interleave.cases import ValueCase
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.rounds import ratio_of_case
from asv_watch.interleave.sides import Side
from asv_watch.judge.causes import in_words
from asv_watch.judge.release_history import ReleaseStep, release_histories
from asv_watch.records.comparisons import CaseRatio, StoredComparison, Version
from asv_watch.records.json_lines import append_lines
from asv_watch.records.release_values import FILE_NAME as VALUES
from asv_watch.records.release_values import ReleaseValue, read_release_values
from asv_watch.records.releases import FILE_NAME, IMPORT_CASE
from asv_watch.releases import environments
from asv_watch.releases.values import measure_values, missing_values
from asv_watch.statistics.ratio import verdict
from asv_watch.statistics.rule import Verdict

IMPORT_ROUNDS = 5
_MOST_EXPLAINED = 3
"""Cases of two releases whose operators and kernels are compared: those that changed most."""


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """Two releases of asv.conf.json, and what this machine has stored of them."""

    before: Pair
    """The older one."""
    after: Pair
    stored: ReleaseStep
    """Comparisons at any commit of this package."""

    def missing(self, cases: Iterable[str]) -> list[str]:
        """Return the cases that have neither a ratio nor a reason why not."""
        return [case for case in cases if case not in self.stored.commits]


def release_pairs(
    releases: Sequence[Pair],
    comparisons: Sequence[StoredComparison],
    *,
    release: str = "",
    against: str = "",
) -> tuple[ReleasePair, ...]:
    """Pair the releases of asv.conf.json, the newest first.

    Args:
        releases: those that asv.conf.json lists, the newest first.
        comparisons: those of one machine.
        release: the only release that is paired; all if empty.
        against: the release with which each is paired; each one's predecessor if empty. The same
            as ``release`` for a pair of a release with itself.
    """
    stored = {
        (step.before, step.after): step
        for history in release_histories({"": comparisons})
        for step in history.steps
    }
    if release and release == against:
        pairs = [(pair, pair) for pair in releases if pair.torch == release]
    elif against:
        pairs = [
            (after, before)
            for after, before in itertools.combinations(releases, 2)
            if against in {after.torch, before.torch}
            and release in {"", after.torch, before.torch}
        ]
    else:
        pairs = [
            (after, before)
            for after, before in itertools.pairwise(releases)
            if release in {"", after.torch}
        ]
    return tuple(
        ReleasePair(
            before,
            after,
            stored.get((before.torch, after.torch), ReleaseStep(before.torch, after.torch)),
        )
        for after, before in pairs
    )


def measure_releases(
    place: Workplace,
    pairs: Sequence[ReleasePair],
    package: Side,
    cases: Sequence[TimedCase],
    values: Sequence[ValueCase] = (),
    *,
    again: bool = False,
) -> Iterator[tuple[ReleasePair, Compared | tuple[ReleaseValue, ...] | WatchError]]:
    """Compare the releases of each pair, and explain the cases that changed most.

    Environments are made when their turn comes and removed when no later pair needs them, so no
    more than two exist at a time. Every finished case is stored at once.

    Args:
        place: the checkout, and the machine under whose name results are stored.
        pairs: what to compare, the newest first.
        package: the commit of this package that all releases run.
        cases: what to time; what is stored already is left out.
        values: peak memory and exact counts to measure; what is stored already is left out.
        again: time all cases once more, such as on another day.

    Yields:
        Each pair that lacks a case, with its comparison, with the values of a release, or why
        there are none.
    """
    for number, pair in enumerate(pairs, start=1):
        missing = pair.missing(case.name for case in cases)
        wanted = [case for case in cases if again or case.name in missing]
        try:
            for result in _measure_pair(place, pair, package, wanted, values):
                yield pair, result
        except WatchError as error:
            yield pair, error
        needed = [release for later in pairs[number:] for release in (later.before, later.after)]
        for release in (pair.before, pair.after):
            if release not in needed:
                environments.remove_environment(release)


def _measure_pair(
    place: Workplace,
    pair: ReleasePair,
    package: Side,
    cases: Sequence[TimedCase],
    values: Sequence[ValueCase],
) -> Iterator[Compared | tuple[ReleaseValue, ...]]:
    """Time cases with both releases of a pair, then measure the values that either lacks."""
    assert package.version is not None  # noqa: S101 - it is a commit
    torch = pair.before.torch, pair.after.torch
    stored, _ = read_release_values(place.results / VALUES)
    missing = [
        missing_values(stored, release, other, package.version.commit, values)
        for release, other in (torch, reversed(torch))
        if torch[0] != torch[1]
    ]
    if not cases and not any(missing):
        return
    sides = _side(place, package, pair.before), _side(place, package, pair.after)
    if cases:
        imports = interleaved_imports(*sides)
        compared = compare(place, sides, cases, extra=[imports])
        if torch[0] != torch[1]:
            _explain(place, sides, compared.ratios, cases)
        yield compared
    for side, of_side in zip(sides, missing, strict=False):
        if of_side:
            yield _measure_values(place, side, of_side)


def _measure_values(
    place: Workplace, side: Side, cases: Sequence[ValueCase]
) -> tuple[ReleaseValue, ...]:
    """Measure values of a release and store each at once."""
    measured = []
    for value in measure_values(side, place.configuration.suites, cases):
        append_lines(place.results / VALUES, [value])
        measured.append(value)
        print(f"{side.name} [{len(measured)}/{len(cases)}] {value.case}", flush=True)
    return tuple(measured)


def _explain(
    place: Workplace,
    sides: tuple[Side, Side],
    ratios: Iterable[CaseRatio],
    cases: Iterable[TimedCase],
) -> None:
    """Store which operators and kernels account for the largest differences."""
    by_name = {case.name: case for case in cases}
    differing = [
        ratio for ratio in ratios if ratio.case in by_name and verdict(ratio) is not Verdict.SAME
    ]
    differing.sort(key=lambda ratio: -abs(math.log(ratio.ratio)))
    for ratio in differing[:_MOST_EXPLAINED]:
        try:
            explanation = explain(place, sides, by_name[ratio.case], with_instructions=False)
            answer = in_words(explanation, ratio.ratio)
        except WatchError as error:  # the ratio stays as it is
            answer = f"not explained: {error}"
        print(f"{ratio.case}: {answer}", flush=True)


def _side(place: Workplace, package: Side, release: Pair) -> Side:
    """Make one side, and keep what is seen of its release.

    Raises:
        WatchError: the release cannot be installed or imported.
    """
    configuration = place.configuration
    tried = environments.try_release(release, configuration.python)
    append_lines(place.results / FILE_NAME, [tried])
    if tried.failed:
        raise WatchError(tried.failed)
    assert package.version is not None  # noqa: S101 - it is a commit
    version = Version(
        package.version.commit, release.torch, release.torchvision, configuration.python
    )
    name = f"torch {release.torch}"
    return dataclasses.replace(package, name=name, pair=release, version=version)


def interleaved_imports(before: Side, after: Side) -> CaseRatio:
    """Compare what ``import torch`` costs, in rounds of four processes: A B B A.

    Raises:
        WatchError: an import failed.
    """
    rounds = []
    for number in range(IMPORT_ROUNDS):
        samples: tuple[list[float], list[float]] = ([], [])
        first = number % 2
        for turn in (first, 1 - first, 1 - first, first):
            samples[turn].append(environments.import_cost((before, after)[turn].pair).import_s)
        rounds.append((tuple(samples[0]), tuple(samples[1])))
    return ratio_of_case(IMPORT_CASE, rounds)
