"""Which releases are compared with each other, and what is missing of them."""

from __future__ import annotations

from pathlib import Path

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.releases.measure import release_pairs
from tests.asv_watch.planted_releases import compared_releases

RELEASES = [
    EnvironmentSpec({"numpy": number}, "", Path(), {}) for number in ("9.2.0", "9.1.0", "9.0.0")
]


def test_neighbours_are_paired_and_cases_without_a_ratio_are_missing() -> None:
    compared = compared_releases(
        "9.0.0", "9.1.0", {"fast": 1.0}, skipped="slow", requirement="numpy"
    )
    of_another = compared_releases("9.1.0", "9.2.0", {"fast": 1.0}, requirement="scipy")
    pairs = release_pairs("numpy", RELEASES, [compared, of_another])
    assert [(pair.before.version, pair.after.version) for pair in pairs] == [
        ("9.1.0", "9.2.0"),
        ("9.0.0", "9.1.0"),
    ]
    assert [pair.missing(["fast", "absent", "slow"]) for pair in pairs] == [
        ["fast", "absent", "slow"],
        ["absent"],
    ]


def test_a_release_is_paired_with_another_one_or_itself_where_that_is_wanted() -> None:
    against = release_pairs("numpy", RELEASES, [], release="9.0.0", against="9.2.0")
    assert [(pair.before.version, pair.after.version) for pair in against] == [("9.0.0", "9.2.0")]
    [itself] = release_pairs("numpy", RELEASES, [], release="9.1.0", against="9.1.0")
    assert (itself.before.version, itself.after.version) == ("9.1.0", "9.1.0")
    assert release_pairs("numpy", RELEASES, [], release="9.0.0") == ()
