"""`asv-watch reference` with real git, real asv and real processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.measurements import read_comparisons
from tests.asv_watch.clockwork import SUITE, package
from tests.asv_watch.interruptible import run_driver
from tests.asv_watch.torchless import CONFIGURATION
from tests.conftest import commit, git


def _configuration(reference: str) -> str:
    settings = {"reference": reference, "measured_paths": ["benchmarks", "asv.conf.json"]}
    text = json.dumps(CONFIGURATION | settings, indent=1)
    return text.replace('"version"', '// what is measured\n "version"')


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    root = make_project(SUITE, {"src/package.py": package()})
    first = git(root, "rev-parse", "HEAD")
    commit(root, {"asv.conf.json": _configuration(first)}, "Name a reference")
    commit(root, {"src/package.py": package(slow=0.0013)}, "Do more in one model")
    return root


def test_a_commit_is_measured_against_the_reference_once_and_every_night_its_cases(
    project: Path, tmp_path: Path
) -> None:
    output, _ = run_driver("reference", project, tmp_path)
    first, unchanged, head = git(project, "rev-list", "--reverse", "HEAD").split()
    [comparison], problems = read_comparisons(project / "results")
    assert problems == ()
    header = comparison.header
    assert (header.kind, header.before.commit, header.after.commit) == ("reference", first, head)
    [slow] = [ratio for ratio in comparison.ratios if "slow" in ratio.case]
    assert 1.15 < slow.ratio < 1.45  # 1.3 times the work

    output, _ = run_driver("reference", project, tmp_path)
    assert output.splitlines()[-1] == "nothing was missing"

    output, _ = run_driver("nightly", project, tmp_path, "--cases", "plain")
    stored, _ = read_comparisons(project / "results")
    _, of_night = (found for found in stored if found.header.kind == "reference")
    assert of_night.header.after.commit == unchanged  # HEAD changes no measured path
    assert [case.case for case in of_night.ratios] == ["suite.Suite.time_it('plain')"]
