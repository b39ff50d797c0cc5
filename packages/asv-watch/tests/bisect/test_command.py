"""`asv-watch bisect` with real git, asv and processes, and how it narrows changes."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.bisect import narrow
from asv_watch.errors import WatchError
from asv_watch.statistics.rule import Answer
from tests.clockwork import SUITE, package
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.stored import stored_comparisons

TRACKED = "def track_words():\n    from package import WORDS\n    return WORDS\n"


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """Six commits of the package: the fourth does not run, the fifth does more."""
    before = package() + "WORDS = 1000\n"
    after = package(slow=0.0014) + "WORDS = 1001\n"
    root = make_project(SUITE + TRACKED, {"src/package.py": before})
    commit(root, {"src/package.py": "# A comment.\n" + before}, "Comment")
    commit(root, {"README": "."}, "Write docs")
    commit(root, {"src/package.py": "this is no Python"}, "Break it")
    commit(root, {"src/package.py": after}, "Do more")
    commit(root, {"src/package.py": "# No comment.\n" + after}, "Comment more")
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
    ends, *halves = stored_comparisons(project)
    assert {each.sitting.kind for each in (ends, *halves)} == {"bisect"}
    assert len(ends.sitting.versions) == 2
    assert {len(each.sitting.versions) for each in halves} == {3}, "both halves at once"
    [broken] = [each for each in halves if each.failed]
    assert broken.rounds == (), "its neighbours alone would say nothing new"

    unchanged = ("--before", "HEAD~5", "--after", "HEAD~4", "--cases", "slow")
    output, _ = run_driver("bisect", project, tmp_path, *unchanged)
    assert output.splitlines()[-1] == "The ends of the range do not differ."

    output, _ = run_driver("bisect", project, tmp_path, *range_[:4], "--cases", "words")
    assert "\n  worse: +0.1 %\n" in output
    assert f"+0.1 %: {subject}, or the version before it" in output.splitlines()[-1]


@given(st.integers(3, 40), st.data())
def test_every_change_is_found_between_the_nearest_versions_that_can_be_measured(
    count: int, data: st.DataObject
) -> None:
    changes = data.draw(st.sets(st.integers(1, count - 1), min_size=1, max_size=3))
    inner = st.integers(1, count - 2)
    broken = data.draw(st.just(set[int]()) | st.sets(inner, max_size=count - 2))
    asked: list[tuple[int, int, int]] = []

    def compare(before: int, after: int) -> Answer:
        assert not broken & {before, after}
        differs = any(before < change <= after for change in changes)
        return Answer.DIFFERENT if differs else Answer.SAME

    def split(before: int, after: int, midpoint: int) -> tuple[Answer, Answer]:
        assert before < midpoint < after
        asked.append((before, after, midpoint))
        if midpoint in broken:
            raise WatchError
        return compare(before, midpoint), compare(midpoint, after)

    measurable = [index for index in range(count) if index not in broken]
    gaps = itertools.pairwise(measurable)
    expected = [gap for gap in gaps if compare(*gap) is Answer.DIFFERENT]
    assert list(narrow(range(count), split)) == expected
    assert len({midpoint for *_, midpoint in asked}) == len(asked), "each is tried once"
    if not broken:
        assert len(asked) <= len(changes) * count.bit_length()


def test_a_half_that_is_unclear_is_searched_only_where_the_other_is_the_same() -> None:
    def compare(before: int, after: int) -> Answer:
        if before < 2 < after or (before, after) == (0, 2):
            return Answer.UNKNOWN
        return Answer.DIFFERENT if (before, after) == (1, 2) else Answer.SAME

    def split(before: int, after: int, midpoint: int) -> tuple[Answer, Answer]:
        return compare(before, midpoint), compare(midpoint, after)

    assert list(narrow(range(5), split)) == [(1, 2)]
    for answer in (Answer.UNKNOWN, Answer.SAME):
        assert list(narrow(range(9), lambda *_, answer=answer: (answer, answer))) == [(0, 8)]
