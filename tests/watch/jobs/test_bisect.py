"""`torchspeed bisect` with real git, real asv and real processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import commit, git
from tests.watch.interruptible import start_driver
from tests.watch.torchless import CONFIGURATION
from torchspeed.watch.history.comparisons import read_comparisons

SUITE = """
import time

class Suite:
    params = ["first", "second"]
    param_names = ["model"]
    timer = time.process_time
    sample_time = 0.002
    warmup_time = 0

    def time_it(self, model):
        from package import work
        work()
"""
PACKAGE = """
def work():
    for _ in range({work}):
        sum(range(20))
"""


@pytest.fixture
def project(make_repository: Callable[..., Path]) -> Path:
    """Six commits of the package: the fourth does not run, the fifth does more."""
    root = make_repository(
        {
            "asv.conf.json": json.dumps(CONFIGURATION),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "src/package.py": PACKAGE.format(work=200),
            ".gitignore": ".asv/\nresults/\n",
        }
    )
    commit(root, {"src/package.py": "# A comment.\n" + PACKAGE.format(work=200)}, "Comment")
    commit(root, {"README": "."}, "Write docs")
    commit(root, {"src/package.py": "this is no Python"}, "Break it")
    commit(root, {"src/package.py": PACKAGE.format(work=280)}, "Do more")
    commit(root, {"src/package.py": "# No comment.\n" + PACKAGE.format(work=280)}, "Comment more")
    return root


def _run(project: Path, home: Path, *arguments: str) -> tuple[int, str, str]:
    process = start_driver("bisect", project, home, *arguments)
    output, errors = process.communicate()
    return process.returncode, output, errors


def test_the_commit_is_named_with_the_size_of_its_change(project: Path, tmp_path: Path) -> None:
    range_ = ("--before", "HEAD~5", "--after", "HEAD", "--cases", "first")
    status, output, errors = _run(project, tmp_path, *range_)
    assert status == 0, output + errors
    subject = git(project, "log", "-1", "--format=%h %s", "HEAD~1")
    last = output.splitlines()[-1]
    assert f"{subject}, or one of the 1 before it that could not be told apart" in last
    assert 0.2 < float(last.split("%")[0]) / 100 < 0.6  # 1.4 times the work
    assert "5 candidates" in output, "the docs cannot have changed it"
    assert "cannot be measured" in output
    comparisons, _ = read_comparisons(project / "results")
    assert {comparison.header.kind for comparison in comparisons} == {"bisect"}

    unchanged = ("--before", "HEAD~5", "--after", "HEAD~4", "--cases", "first")
    status, output, _ = _run(project, tmp_path, *unchanged)
    assert (status, output.splitlines()[-1]) == (0, "The ends of the range do not differ.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--before", "HEAD~1", "--cases", "suite"), "matches 2 cases, such as"),
        (("--before", "HEAD", "--cases", "first"), "are the same; there is no range"),
        (("--before", "nowhere", "--cases", "first"), "'nowhere' is no commit"),
        (
            ("--before", "HEAD", "--after", "HEAD~1", "--cases", "first"),
            "has to be an ancestor of the second",
        ),
    ],
)
def test_bad_input_is_one_line(
    project: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    status, _, errors = _run(project, tmp_path, *arguments)
    assert status == 1
    assert message in errors
    assert errors.count("\n") == 1
