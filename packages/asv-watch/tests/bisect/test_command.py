"""`asv-watch bisect` with real git, real asv and real processes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.store import read_record
from tests.clockwork import SUITE, package
from tests.conftest import commit, git
from tests.interruptible import run_driver


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """Six commits of the package: the fourth does not run, the fifth does more."""
    root = make_project(SUITE, {"src/package.py": package()})
    commit(root, {"src/package.py": "# A comment.\n" + package()}, "Comment")
    commit(root, {"README": "."}, "Write docs")
    commit(root, {"src/package.py": "this is no Python"}, "Break it")
    commit(root, {"src/package.py": package(slow=0.0014)}, "Do more")
    commit(root, {"src/package.py": "# No comment.\n" + package(slow=0.0014)}, "Comment more")
    return root


def test_the_commit_is_named_with_the_size_of_its_change(project: Path, tmp_path: Path) -> None:
    range_ = ("--before", "HEAD~5", "--after", "HEAD", "--cases", "slow")
    answer = tmp_path / "answer.json"
    output, _ = run_driver("bisect", project, tmp_path, *range_, "--json", str(answer))
    found = json.loads(answer.read_text())
    assert (found["schema"], found["command"]) == (1, "bisect")
    assert (found["before"], found["after"]) == ("HEAD~5", "HEAD")
    [change] = found["differences"]
    assert (change["verdict"], change["worse"]) == ("slower", True)
    assert change["commits"] == [git(project, "rev-parse", "HEAD~1")]
    assert change["interval"][0] < change["ratio"] < change["interval"][1]
    subject = git(project, "log", "-1", "--format=%h %s", "HEAD~1")
    last = output.splitlines()[-1]
    assert f"{subject}, or the version before it, without a clear result" in last
    assert 0.2 < float(last.split("%")[0]) / 100 < 0.6  # 1.4 times the work
    assert ": 4 commits\n" in output, "the docs cannot have changed it"
    assert "cannot be measured" in output
    (ends, *halves), _ = read_record(project / "results")
    assert {each.sitting.kind for each in (ends, *halves)} == {"bisect"}
    assert len(ends.sitting.versions) == 2
    assert {len(each.sitting.versions) for each in halves} == {3}, "both halves at once"
    [broken] = [each for each in halves if each.failed]
    assert broken.rounds == (), "its neighbours alone would say nothing new"

    unchanged = ("--before", "HEAD~5", "--after", "HEAD~4", "--cases", "slow")
    output, _ = run_driver("bisect", project, tmp_path, *unchanged)
    assert output.splitlines()[-1] == "The ends of the range do not differ."


def test_the_commit_that_changed_a_tracked_value_is_named(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    suite = "def track_words():\n    from package import WORDS\n    return WORDS\n"
    root = make_project(suite, {"src/package.py": "WORDS = 1000"})
    for words, subject in ((1000, "Comment"), (1001, "Say more"), (1001, "Comment more")):
        commit(root, {"src/package.py": f"WORDS = {words}  # {subject}"}, subject)
    range_ = ("--before", "HEAD~3", "--after", "HEAD", "--cases", "words")
    output, _ = run_driver("bisect", root, tmp_path, *range_)
    assert "\n  worse: +0.1 %\n" in output
    subject = git(root, "log", "-1", "--format=%h %s", "HEAD~1")
    assert f"+0.1 %: {subject} (after " in output.splitlines()[-1]
