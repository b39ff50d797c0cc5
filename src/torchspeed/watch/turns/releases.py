"""Compares adjacent torch releases at one commit of this package, and resumes where it stopped."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.ratio import estimate_ratio, ratio_of_round
from torchspeed.watch.asv.settings import Configuration, Pair
from torchspeed.watch.history.comparisons import CaseRatio, Version, read_comparisons
from torchspeed.watch.history.releases import TriedRelease, append_release
from torchspeed.watch.turns import release_environments as environments
from torchspeed.watch.turns.compare import Compared, compare
from torchspeed.watch.turns.processes import Case
from torchspeed.watch.turns.sides import Side

IMPORT_CASE = "imports.Imports.time_import('torch')"
"""CPU seconds of ``import torch`` in a process of its own."""
IMPORT_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two adjacent releases of asv.conf.json and the cases that were compared."""

    before: Pair
    after: Pair
    cases: frozenset[str]
    """Names of the cases that have a ratio on this machine, or a reason why not."""
    at: int
    """When the newest comparison began, seconds since the epoch; 0 if there is none."""

    @property
    def day(self) -> str:
        """The day of the newest comparison (UTC)."""
        return f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%d}" if self.at else ""


def neighbours(configuration: Configuration, machine: str) -> tuple[Neighbours, ...]:
    """Pair each release with its predecessor, the newest first.

    Args:
        configuration: of the checkout; its ``releases`` are paired.
        machine: whose comparisons count. The commit of this package does not matter.
    """
    comparisons, _ = read_comparisons(configuration.results)
    stored = [
        comparison
        for comparison in comparisons
        if comparison.header.kind == "release" and comparison.header.machine == machine
    ]
    pairs = []
    for after, before in itertools.pairwise(configuration.releases):
        found = [
            comparison
            for comparison in stored
            if (comparison.header.before.torch, comparison.header.after.torch)
            == (before.torch, after.torch)
        ]
        names = {case.case for comparison in found for case in comparison.ratios}
        names |= {case.case for comparison in found for case in comparison.unmeasured}
        at = max((comparison.header.at for comparison in found), default=0)
        pairs.append(Neighbours(before, after, frozenset(names), at))
    return tuple(pairs)


def missing_cases(pair: Neighbours, cases: Sequence[Case], *, again: bool) -> list[Case]:
    """Return the cases that a pair of releases lacks; all of them if they are wanted again."""
    return [case for case in cases if again or case.name not in pair.cases]


def measure_releases(
    configuration: Configuration,
    commit: str,
    package: Path,
    machine: str,
    cases: Sequence[Case],
    *,
    only: str = "",
    again: bool = False,
) -> Iterator[tuple[Neighbours, Compared | TorchspeedError]]:
    """Compare each release with its predecessor, the newest first.

    Environments are made when their turn comes and removed after their last comparison, so no
    more than two exist at a time. Every finished case is stored at once.

    Args:
        configuration: of the checkout.
        commit: hash of the commit of this package that all releases run.
        package: folder that holds the package at that commit.
        machine: name under which this machine's results are stored.
        cases: what to measure; what is stored already is left out.
        only: the one release that is compared with its predecessor; all if empty.
        again: measure all of it once more, such as on another day.

    Yields:
        Each pair with its comparison, or why there is none.
    """
    pairs = [pair for pair in neighbours(configuration, machine) if only in {"", pair.after.torch}]
    for pair in pairs:
        wanted = missing_cases(pair, cases, again=again)
        if wanted:
            try:
                sides = tuple(
                    _side(configuration, commit, package, machine, release)
                    for release in (pair.before, pair.after)
                )
                before, after = sides
                extra = [interleaved_imports(before, after)]
                result = compare(
                    configuration, (before, after), machine, wanted, "release", extra=extra
                )
            except TorchspeedError as error:
                yield pair, error
            else:
                yield pair, result
        environments.remove_environment(pair.after)
    if pairs:
        environments.remove_environment(pairs[-1].before)


def _side(
    configuration: Configuration, commit: str, package: Path, machine: str, release: Pair
) -> Side:
    """Make one side, and keep what is seen of its release.

    Raises:
        TorchspeedError: the release cannot be installed or imported.
    """
    try:
        environments.make_environment(release, configuration.python)
        tried = environments.try_release(release)
    except TorchspeedError as error:
        tried = TriedRelease(
            torch=release.torch,
            torchvision=release.torchvision,
            at=int(time.time()),
            failed=str(error),
        )
    append_release(configuration.results, machine, tried)
    if tried.failed:
        raise TorchspeedError(tried.failed)
    version = Version(commit, release.torch, release.torchvision, configuration.python)
    return Side(f"torch {release.torch}", package, release, version)


def interleaved_imports(before: Side, after: Side) -> CaseRatio:
    """Compare what ``import torch`` costs, in rounds of four processes: A B B A.

    Raises:
        TorchspeedError: an import failed.
    """
    samples: list[tuple[list[float], list[float]]] = []
    for number in range(IMPORT_ROUNDS):
        samples.append(([], []))
        first = number % 2
        for place in (first, 1 - first, 1 - first, first):
            samples[-1][place].append(
                environments.import_cost((before, after)[place].pair).import_s
            )
    ratios = tuple(ratio_of_round(*round_samples) for round_samples in samples)
    ratio, interval = estimate_ratio(ratios)
    medians = [
        statistics.median(itertools.chain.from_iterable(taken[place] for taken in samples))
        for place in (0, 1)
    ]
    return CaseRatio(IMPORT_CASE, int(time.time()), ratios, ratio, interval, *medians)
