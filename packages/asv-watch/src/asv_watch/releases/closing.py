"""Extra comparisons of distant releases or versions, to check the products of neighbours' ratios.

Neighbours are compared first, so the ratio of two distant releases is a product that nothing
checks. Each older release is therefore also compared with the newest, and each older version of
the package with the newest version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison
from asv_watch.releases.measure import ReleasePair, release_pairs
from asv_watch.versions.commits import Commit
from asv_watch.versions.releases import Release


def closing_pairs(
    requirement: str, releases: Sequence[EnvironmentSpec], comparisons: Sequence[Comparison]
) -> tuple[ReleasePair, ...]:
    """Pair each older release with the newest; none if there are fewer than three releases."""
    if len(releases) < 3:
        return ()
    return release_pairs(requirement, releases, comparisons, against=releases[0].version)


class VersionPair(NamedTuple):
    """An older version of the package and the newest one, on one machine."""

    before: Commit
    after: Commit
    cases: frozenset[str]
    """Cases in which the two were compared with each other, or could not be."""


def closing_versions(
    commits: Sequence[Commit],
    versions: Mapping[str, str],
    comparisons: Sequence[Comparison],
    release: Release,
) -> list[VersionPair]:
    """Pair each older version with the newest, the newest pair first.

    Versions that this machine never compared are left out.

    Args:
        commits: Commits of the branch, oldest first.
        versions: Maps a commit hash to the version that it is.
        comparisons: Comparisons of the machine.
        release: Main release with which both sides ran.
    """
    cases: dict[frozenset[str], set[str]] = {}
    for comparison in comparisons:
        for sides in combinations(comparison.sitting.versions, 2):
            if all(side.release == release for side in sides):
                pair = frozenset(side.commit for side in sides)
                cases.setdefault(pair, set()).add(comparison.case)
    compared = frozenset[str]().union(*cases)
    known = [commit for commit in commits if commit.hash in versions and commit.hash in compared]
    if len(known) < 3:
        return []
    newest = known[-1]
    return [
        VersionPair(older, newest, frozenset(cases.get(frozenset({older.hash, newest.hash}), ())))
        for older in reversed(known[:-1])
    ]
