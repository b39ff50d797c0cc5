"""Compares releases of a requirement at one commit, and resumes where it stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.compare.measure import Compared, compare
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.sides import Side
from asv_watch.errors import MachineError, WatchError
from asv_watch.explain import explain_case
from asv_watch.judge.causes import in_words
from asv_watch.judge.release_history import ReleaseStep, release_steps
from asv_watch.records.comparisons import (
    CaseRatio,
    StoredComparison,
    Version,
    import_case,
)
from asv_watch.records.measurements import MeasuredCase
from asv_watch.releases import environments
from asv_watch.statistics.rule import Verdict, verdict
from asv_watch.workplace import Workplace

_IMPORT_ROUNDS = 5
_MOST_EXPLAINED = 3
"""Number of most changed cases of two releases whose operators and kernels are compared."""


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """Two releases of asv.conf.json, and what this machine has stored about them."""

    before: EnvironmentSpec
    """The older one."""
    after: EnvironmentSpec
    stored: ReleaseStep
    """Comparisons at any commit of this package."""

    @property
    def is_null(self) -> bool:
        """Whether a release is compared with itself."""
        return self.before.release == self.after.release

    @property
    def lacks_python(self) -> str:
        """Why one of them cannot be installed with this Python; empty if both can."""
        return self.before.lacks_python or self.after.lacks_python

    def missing(self, cases: Iterable[str]) -> list[str]:
        """Return the cases without a ratio, a count or a reason why there is none."""
        known = {*self.stored.commits, *self.stored.counts}
        return [case for case in cases if case not in known]


def release_pairs(
    requirement: str,
    releases: Sequence[EnvironmentSpec],
    comparisons: Sequence[StoredComparison],
    *,
    release: str = "",
    against: str = "",
) -> tuple[ReleasePair, ...]:
    """Pair the releases of asv.conf.json, the newest first.

    Args:
        requirement: the requirement of these releases.
        releases: the releases of asv.conf.json, newest first.
        comparisons: those of one machine.
        release: the only release that is paired; all if empty.
        against: the release with which each is paired; each one's predecessor if empty. The same
            as ``release`` for a pair of a release with itself.
    """
    stored = release_steps(comparisons, requirement)
    if release and release == against:
        pairs = [(spec, spec) for spec in releases if spec.version == release]
    elif against:
        pairs = [
            (after, before)
            for after, before in itertools.combinations(releases, 2)
            if against in {after.version, before.version}
            and release in {"", after.version, before.version}
        ]
    else:
        pairs = [
            (after, before)
            for after, before in itertools.pairwise(releases)
            if release in {"", after.version}
        ]
    return tuple(
        ReleasePair(before, after, stored.get(names) or ReleaseStep(*names))
        for after, before in pairs
        for names in [(before.version, after.version)]
    )


def measure_releases(
    workplace: Workplace,
    pairs: Sequence[ReleasePair],
    package: Side,
    cases: Sequence[MeasurableCase],
    *,
    again: bool = False,
) -> Iterator[tuple[ReleasePair, Compared | WatchError]]:
    """Compare the releases of each pair, and explain the cases that changed most.

    Environments are made when their turn comes and removed when no later pair needs them, so no
    more than two exist at a time. Every finished case is stored at once.

    Args:
        workplace: the checkout, and the machine under whose name results are stored.
        pairs: what to compare, the newest first.
        package: the commit of this package that all releases run.
        cases: what to measure; what is stored already is left out.
        again: measure all cases once more, such as on another day.

    Yields:
        Each pair that lacks a case, with its comparison, or why there is none.

    Raises:
        MachineError: the machine is to blame, such as a full disk; no later pair is tried.
    """
    for number, pair in enumerate(pairs, start=1):
        missing = pair.missing(case.name for case in cases)
        chosen = [case for case in cases if again or case.name in missing]
        if chosen:
            try:
                yield pair, _compare(workplace, pair, package, chosen)
            except MachineError:
                for release in (pair.before, pair.after):
                    environments.remove_environment(release)
                raise
            except WatchError as error:
                yield pair, error
        needed = [release for later in pairs[number:] for release in (later.before, later.after)]
        for release in (pair.before, pair.after):
            if release not in needed:
                environments.remove_environment(release)


def _compare(
    workplace: Workplace, pair: ReleasePair, package: Side, cases: Sequence[MeasurableCase]
) -> Compared:
    """Compare both releases of a pair in the given cases.

    Raises:
        WatchError: a release cannot be installed or imported, or no case ran.
    """
    sides = _side(package, pair.before), _side(package, pair.after)
    _install(workplace, sides)
    timed = [case for case in cases if case.is_timed]
    imports = [_interleaved_imports(*sides)] if timed else []
    compared = compare(workplace, sides, cases, extra=imports)
    if not pair.is_null and workplace.declared.profiler is not None:
        _explain(workplace, sides, compared.ratios, timed)
    return compared


def _explain(
    workplace: Workplace,
    sides: tuple[Side, Side],
    ratios: Iterable[CaseRatio],
    cases: Iterable[MeasurableCase],
) -> None:
    """Store which operators and kernels account for the largest differences."""
    by_name = {case.name: case for case in cases}
    differing = [
        ratio for ratio in ratios if ratio.case in by_name and verdict(ratio) is not Verdict.SAME
    ]
    differing.sort(key=lambda ratio: -abs(math.log(ratio.ratio)))
    for ratio in differing[:_MOST_EXPLAINED]:
        try:
            answer = in_words(explain_case(workplace, sides, by_name[ratio.case]), ratio.ratio)
        except WatchError as error:  # the ratio stays as it is
            answer = f"not explained: {error}"
        print(f"{ratio.case}: {answer}", flush=True)


def _side(package: Side, release: EnvironmentSpec) -> Side:
    """Return a side that runs the package with a release."""
    assert package.version is not None  # noqa: S101 - it is a commit
    version = Version(package.version.commit, dict(release.requirements), release.python)
    return dataclasses.replace(package, name=release.release, environment=release, version=version)


def _install(workplace: Workplace, sides: tuple[Side, Side]) -> None:
    """Install and import both releases; if one fails, store that as a comparison without cases.

    Raises:
        MachineError: the machine is to blame, such as a full disk, and not the release.
        WatchError: a release cannot be installed or imported, or the project refuses it.
    """
    for side in sides:
        release = side.environment
        try:
            environments.make_environment(release)
            environments.import_seconds(release)  # compiles the package's Python files
            if workplace.declared.facts_script is not None:
                environments.run_probe(release, workplace.declared.facts_script)
        except WatchError as error:
            failed = MeasuredCase(
                import_case(environments.requirement(release)),
                int(time.time()),
                failed={0 if side is sides[0] else 1: str(error)},
            )
            with contextlib.suppress(WatchError):  # it says that no case ran
                compare(workplace, sides, [], "release", extra=[failed])
            raise


def _interleaved_imports(before: Side, after: Side) -> MeasuredCase:
    """Compare the cost of importing a requirement, in rounds of four processes: A B B A.

    Raises:
        WatchError: an import failed.
    """
    rounds = []
    for number in range(_IMPORT_ROUNDS):
        samples: tuple[list[float], list[float]] = ([], [])
        first = number % 2
        for turn in (first, 1 - first, 1 - first, first):
            side = (before, after)[turn]
            samples[turn].append(environments.import_seconds(side.environment))
        rounds.append(tuple(map(min, samples)))
    name = import_case(environments.requirement(after.environment))
    return MeasuredCase(name, int(time.time()), rounds=tuple(rounds))
