"""Compares adjacent torch releases at one commit of this package, and resumes where it stopped."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.history.comparisons import CaseRatio, Version, read_comparisons
from torchspeed.watch.history.releases import IMPORT_CASE, append_release
from torchspeed.watch.turns import release_environments as environments
from torchspeed.watch.turns.compare import Compared, compare
from torchspeed.watch.turns.processes import TimedCase
from torchspeed.watch.turns.rounds import ratio_of_case
from torchspeed.watch.turns.sides import Side
from torchspeed.watch.turns.workplace import Workplace

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


def neighbours(place: Workplace) -> tuple[Neighbours, ...]:
    """Pair each release of asv.conf.json with its predecessor, the newest first.

    Comparisons of this machine count. The commit of this package does not matter.
    """
    pairs = []
    comparisons, _ = read_comparisons(place.configuration.results)
    for after, before in itertools.pairwise(place.configuration.releases):
        stored = [
            comparison
            for comparison in comparisons
            if (comparison.header.kind, comparison.header.machine) == ("release", place.machine)
            and comparison.header.before.torch == before.torch
            and comparison.header.after.torch == after.torch
        ]
        names = {case.case for comparison in stored for case in comparison.ratios}
        names |= {case.case for comparison in stored for case in comparison.unmeasured}
        at = max((comparison.header.at for comparison in stored), default=0)
        pairs.append(Neighbours(before, after, frozenset(names), at))
    return tuple(pairs)


def measure_releases(
    place: Workplace,
    pairs: Sequence[Neighbours],
    package: Side,
    cases: Sequence[TimedCase],
    *,
    again: bool = False,
) -> Iterator[tuple[Neighbours, Compared | TorchspeedError]]:
    """Compare releases with their predecessors.

    Environments are made when their turn comes and removed after their last comparison, so no
    more than two exist at a time. Every finished case is stored at once.

    Args:
        place: the checkout, and the machine under whose name results are stored.
        pairs: what to compare, the newest first.
        package: the commit of this package that all releases run.
        cases: what to measure; what is stored already is left out.
        again: measure all of it once more, such as on another day.

    Yields:
        Each pair that lacks a case with its comparison, or why there is none.
    """
    for pair in pairs:
        wanted = [case for case in cases if again or case.name not in pair.cases]
        if wanted:
            try:
                before = _side(place, package, pair.before)
                after = _side(place, package, pair.after)
                imports = interleaved_imports(before, after)
                yield pair, compare(place, (before, after), wanted, "release", extra=[imports])
            except TorchspeedError as error:
                yield pair, error
        environments.remove_environment(pair.after)
    if pairs:
        environments.remove_environment(pairs[-1].before)


def _side(place: Workplace, package: Side, release: Pair) -> Side:
    """Make one side, and keep what is seen of its release.

    Raises:
        TorchspeedError: the release cannot be installed or imported.
    """
    configuration = place.configuration
    tried = environments.try_release(release, configuration.python)
    append_release(configuration.results, place.machine, tried)
    if tried.failed:
        raise TorchspeedError(tried.failed)
    assert package.version is not None  # noqa: S101 - it is a commit
    version = Version(
        package.version.commit, release.torch, release.torchvision, configuration.python
    )
    name = f"torch {release.torch}"
    return dataclasses.replace(package, name=name, pair=release, version=version)


def interleaved_imports(before: Side, after: Side) -> CaseRatio:
    """Compare what ``import torch`` costs, in rounds of four processes: A B B A.

    Raises:
        TorchspeedError: an import failed.
    """
    rounds = []
    for number in range(IMPORT_ROUNDS):
        samples: tuple[list[float], list[float]] = ([], [])
        first = number % 2
        for turn in (first, 1 - first, 1 - first, first):
            samples[turn].append(environments.import_cost((before, after)[turn].pair).import_s)
        rounds.append((tuple(samples[0]), tuple(samples[1])))
    return ratio_of_case(IMPORT_CASE, rounds)
