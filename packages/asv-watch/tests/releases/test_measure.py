"""Which releases are compared with each other, and what is missing of them."""

from collections.abc import Iterable
from pathlib import Path

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.releases import measure
from tests.planted_comparisons import compared_releases

RELEASES = [
    EnvironmentSpec({"numpy": number}, "", Path(), {}) for number in ("9.2.0", "9.1.0", "9.0.0")
]


def _versions(pairs: Iterable[measure.ReleasePair]) -> list[tuple[str, str]]:
    return [(pair.before.version, pair.after.version) for pair in pairs]


def test_neighbours_are_paired_and_cases_without_a_ratio_are_missing() -> None:
    ratios = {"fast": 1.0}
    compared = compared_releases("9.0.0", "9.1.0", ratios, skipped="slow", requirement="numpy")
    of_another = compared_releases("9.1.0", "9.2.0", ratios, requirement="scipy")
    pairs = measure.release_pairs("numpy", RELEASES, [*compared, *of_another])
    assert _versions(pairs) == [("9.1.0", "9.2.0"), ("9.0.0", "9.1.0")]
    cases = ["fast", "absent", "slow"]
    assert [pair.missing(cases) for pair in pairs] == [cases, ["absent"]]


def test_a_release_is_paired_with_another_one_or_itself_where_that_is_wanted() -> None:
    against = measure.release_pairs("numpy", RELEASES, [], release="9.0.0", against="9.2.0")
    assert _versions(against) == [("9.0.0", "9.2.0")]
    itself = measure.release_pairs("numpy", RELEASES, [], release="9.1.0", against="9.1.0")
    assert _versions(itself) == [("9.1.0", "9.1.0")]
    assert measure.release_pairs("numpy", RELEASES, [], release="9.0.0") == ()


def test_five_releases_are_measured_at_once_instead_of_four_pairs() -> None:
    numbers = [f"9.{number}.0" for number in range(6, -1, -1)]
    listed = [EnvironmentSpec({"numpy": number}, "", Path(), {}) for number in numbers]
    pairs = measure.release_pairs("numpy", listed, [])
    found = [
        [spec.version for spec in measure.oldest_to_newest(each)]
        for each in measure.release_chains(pairs, ["fast"], 5)
    ]
    assert found == [["9.2.0", "9.3.0", "9.4.0", "9.5.0", "9.6.0"], ["9.0.0", "9.1.0", "9.2.0"]]
    assert [len(each) for each in measure.release_chains(pairs, ["fast"], 2)] == [1] * 6, (
        "a small disk"
    )


def test_only_neighbours_that_lack_the_same_cases_are_measured_at_once() -> None:
    compared = compared_releases("9.0.0", "9.1.0", {"fast": 1.0}, requirement="numpy")
    pairs = measure.release_pairs("numpy", RELEASES, compared)
    assert measure.release_chains(pairs, ["fast", "slow"], 5) == [[pairs[0]], [pairs[1]]]
    assert measure.release_chains(pairs, None, 5) == [list(pairs)]
    assert measure.release_chains(pairs, ["fast"], 5) == [[pairs[0]]]
    with_newest = measure.release_pairs("numpy", RELEASES, [], against="9.2.0")
    chains = measure.release_chains(with_newest, ["fast"], 5)
    assert len(chains) == 2, "the older two are no neighbours here"
