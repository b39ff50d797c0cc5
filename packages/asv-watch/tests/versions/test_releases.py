from __future__ import annotations

import pytest

from asv_watch.versions.releases import NO_RELEASE, Release, main_release, release_order


@pytest.mark.parametrize(
    ("requirements", "release", "text"),
    [
        ({"numpy": "2.4.0", "scipy": "1.16"}, Release("numpy", "2.4.0"), "numpy 2.4.0"),
        ({"numpy": "", "pip+torch": "2.15.0"}, Release("torch", "2.15.0"), "torch 2.15.0"),
        ({"numpy": ""}, NO_RELEASE, ""),
        ({}, NO_RELEASE, ""),
    ],
)
def test_the_main_release_is_the_first_that_is_pinned(
    requirements: dict[str, str], release: Release, text: str
) -> None:
    assert main_release(requirements) == release
    assert (str(release), bool(release)) == (text, bool(text))


def test_releases_come_in_the_order_of_their_numbers() -> None:
    versions = ["2.15.0+cpu", "2.10.0", "2.9.0", "nightly", "2.10.0rc1"]
    in_order = ["nightly", "2.9.0", "2.10.0rc1", "2.10.0", "2.15.0+cpu"]
    assert sorted(versions, key=release_order) == in_order
