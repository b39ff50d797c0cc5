"""Which torch releases are compared with each other, and what is missing of them."""

from __future__ import annotations

from pathlib import Path

from asv_watch.asv.settings import Pair
from asv_watch.releases.measure import release_pairs
from tests.asv_watch.planted_releases import compared_releases

RELEASES = [Pair(torch, "", "", Path(), {}) for torch in ("9.2.0", "9.1.0", "9.0.0")]


def test_a_release_is_compared_with_its_predecessor_or_with_the_one_that_is_named() -> None:
    stored = [compared_releases("9.0.0", "9.1.0", {"fast": 1.1}, skipped="absent")]
    pairs = release_pairs(RELEASES, stored)
    assert [(pair.before.torch, pair.after.torch) for pair in pairs] == [
        ("9.1.0", "9.2.0"),
        ("9.0.0", "9.1.0"),
    ]
    assert [pair.missing(["fast", "absent", "slow"]) for pair in pairs] == [
        ["fast", "absent", "slow"],
        ["slow"],
    ]
    against = release_pairs(RELEASES, stored, against="9.0.0")
    assert [(pair.before.torch, pair.after.torch) for pair in against] == [
        ("9.0.0", "9.2.0"),
        ("9.0.0", "9.1.0"),
    ]
    assert [pair.missing(["fast"]) for pair in against] == [["fast"], []]
