"""After a slowdown a night confirms it and finds commit and operator, and the site says so."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.judge.causes import in_words
from asv_watch.judge.changes import State
from asv_watch.judge.findings import analyse
from asv_watch.records.git import read_commits
from asv_watch.records.loading import load_history
from tests.asv_watch.clockwork import SUITE, package
from tests.asv_watch.compare.test_confirm import pretend_history
from tests.asv_watch.interruptible import start_driver
from tests.asv_watch.torchless import PUBLISHED
from tests.conftest import commit, git

PROFILER = """
import json

from package import SECONDS

KEPT = 0.0008
seconds = {"aten::add": KEPT, "aten::cumsum": SECONDS["slow"] - KEPT}
operators = [
    {"name": name, "shapes": "[[8]]", "calls": 1, "seconds": value}
    for name, value in seconds.items()
]
print(json.dumps({"operators": operators, "kernels": [], "counts": {}}))
"""
"""Reports two operators, which together take as long as the package says."""


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """Nine measured commits, then three that change the package; the middle one is slower."""
    files = {
        "asv.conf.json": json.dumps(PUBLISHED | {"profiler": "profiler.py"}),
        "src/package.py": package(),
        "profiler.py": PROFILER,
    }
    root = make_project(SUITE, files)
    for number in range(8):
        commit(root, {"README": str(number)}, "Write docs")
    commit(root, {"src/package.py": "# A comment.\n" + package()}, "Comment")
    commit(root, {"src/package.py": package(slow=0.0015)}, "Do more")
    commit(root, {"src/package.py": "# No comment.\n" + package(slow=0.0015)}, "Comment more")
    return root


def _run(job: str, project: Path, home: Path, *arguments: str) -> str:
    process = start_driver(job, project, home, *arguments)
    output, errors = process.communicate()
    assert process.returncode == 0, output + errors
    return output


def test_a_night_confirms_a_slowdown_and_finds_its_commit_and_operator(
    project: Path, tmp_path: Path
) -> None:
    _run("bench", project, tmp_path, "--cases", "slow")
    [result] = (project / "results" / "m").glob("*-*.json")
    *_, before, culprit, _ = git(project, "rev-list", "--reverse", "HEAD").split()
    pretend_history(project, result, "HEAD~3")
    output = _run("nightly", project, tmp_path, "--cases", "slow", "--budget", "10min")
    assert "nothing is left to be done tonight" in output

    results = project / "results"
    history = load_history(results, read_commits(project))
    [change] = analyse(history).changes
    assert change.state is State.MEASURED
    assert change.ratio == pytest.approx(1.5, abs=0.01)
    ends = tuple(history.commits[at].hash for at in (change.previous, change.commit))
    assert ends == (before, culprit)
    assert change.explanation is not None
    sentence = in_words(change.explanation)
    assert sentence.startswith("aten::cumsum accounts for 100 % of the difference (")

    page = html.unescape((project / "html" / "index.html").read_text())
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))
    [first_lines] = re.findall(r"Slower: (Suite it slow \+(?:49|50)\.\d\s% \(.*?)\. ", text)
    cause = rf"at {culprit[:8]} of .*; aten::cumsum accounts for 100 %"
    assert re.search(cause, first_lines)

    report = _run("report", project, tmp_path)
    assert re.match(r"### `Suite it slow`: worse, \+(49|50)\.\d\s% \(", report)
    assert f"- **Commit**: {culprit[:8]}\n- **Why**: aten::cumsum accounts for 100 %" in report

    again = _run("nightly", project, tmp_path, "--cases", "slow", "--budget", "10min")
    assert "measured change" not in again
