"""The list of releases names the comparisons that would check a chain."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from tests.conftest import commit, git
from tests.planted_comparisons import compared_releases, store
from tests.torchless import CONFIGURATION

RELEASES = {"engine": ["3.0", "2.0", "1.0"]}


def test_releases_without_a_second_way_are_counted_until_one_is_measured(
    make_repository: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    configuration = json.dumps(CONFIGURATION | {"releases": RELEASES})
    root = make_repository({"asv.conf.json": configuration})
    monkeypatch.chdir(root)
    for before, after in (("1.0", "2.0"), ("2.0", "3.0")):
        store(root / "results", compared_releases(before, after, {"a": 1.0}, requirement="engine"))
    listed = ["releases", "engine", "list", "--machine", "ci-2core"]
    assert main(listed) == 0
    printed = capsys.readouterr().out
    assert "1 of 2 older releases were not compared with 3.0" in printed
    assert "asv-watch releases engine measure --against 3.0" in printed
    store(root / "results", compared_releases("1.0", "3.0", {"a": 1.0}, requirement="engine"))
    assert main(listed) == 0
    assert "not compared" not in capsys.readouterr().out


def test_versions_without_a_second_way_are_counted_too(
    make_repository: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = make_repository({"asv.conf.json": json.dumps(CONFIGURATION | {"releases": RELEASES})})
    monkeypatch.chdir(root)
    hashes = [git(root, "rev-parse", "HEAD")]
    hashes += [commit(root, {"x": str(number)}, f"Commit {number}") for number in (1, 2)]
    for number, hash_ in enumerate(hashes):
        git(root, "tag", f"v0.{number}", hash_)

    def compare(before: int, after: int) -> None:
        commits = hashes[before], hashes[after]
        planted = compared_releases("", "", {"a": 1.0}, kind="compare", commits=commits)
        store(root / "results", planted)

    listed = ["releases", "engine", "list", "--machine", "ci-2core"]
    compare(0, 1)
    compare(1, 2)
    assert main(listed) == 0
    printed = capsys.readouterr().out
    assert "1 of 2 older versions were not compared with v0.2" in printed
    assert "asv-watch compare --before v0.0 --after v0.2" in printed
    compare(0, 2)
    assert main(listed) == 0
    assert "versions" not in capsys.readouterr().out
