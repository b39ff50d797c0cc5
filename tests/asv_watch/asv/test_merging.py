"""Two machines of one name measure one commit, and git merges their results without loss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.git import read_commits
from asv_watch.records.loading import load_history
from asv_watch.records.suite_lists import read_benchmarks
from tests.asv_watch.asv.project import Project, suite_files
from tests.conftest import git

SUITE = """
class Suite:
    params = ["both", "one", "other"]
    param_names = ["kind"]
    number, repeat, warmup_time = 1, 10, 0

    def time_it(self, kind):
        pass

    def track_it(self, kind):
        return 1.5
"""


@pytest.fixture
def clones(make_repository: Callable[..., Path], tmp_path: Path) -> tuple[Project, Project]:
    root = Path(__file__).parents[3]
    origin = make_repository(
        suite_files(SUITE)
        | {
            ".gitignore": "env/\n",
            ".gitattributes": (root / ".gitattributes").read_text(),
        }
    )
    projects = []
    for name in ("one", "other"):
        home = tmp_path / name
        home.mkdir()
        git(home, "clone", "--quiet", str(origin), "clone")
        projects.append(Project(home / "clone", home))
    return projects[0], projects[1]


def test_lists_of_machines_with_other_suites_merge(clones: tuple[Project, Project]) -> None:
    others = {
        "one": SUITE.replace('["both", ', '["both", "mine", ') + "\ndef track_one(): return 1\n",
        "other": SUITE.replace("    def track_it", "    def track_other"),
    }
    for project, (machine, suite) in zip(clones, others.items(), strict=True):
        (project.folder / "benchmarks/suite.py").write_text(suite)
        arguments = [machine if word == "m" else word for word in project.run_arguments()]
        project.asv(*arguments)
        git(project.folder, "add", "results")
        git(project.folder, "commit", "--quiet", "--message", machine)
    entry, other = clones
    for project, from_which in ((entry, other), (other, entry)):
        git(project.folder, "stash", "--quiet")
        _pull(project, from_which)
        git(project.folder, "stash", "pop", "--quiet")
    listed = read_benchmarks(entry.folder / "results")
    assert listed == read_benchmarks(other.folder / "results")
    benchmarks, problems = listed
    assert problems == []
    names = {"Suite.time_it", "Suite.track_it", "Suite.track_other", "track_one"}
    assert set(benchmarks) == {f"suite.{name}" for name in names}
    assert set(benchmarks["suite.Suite.time_it"].params[0]) == {
        *("'both'", "'mine'", "'one'", "'other'")
    }


def _first_commit(project: Project) -> str:
    return git(project.folder, "rev-list", "--max-parents=0", "HEAD")


def _pull(project: Project, other: Project) -> None:
    git(project.folder, "pull", "--quiet", "--no-rebase", str(other.folder), "main")
    assert git(project.folder, "status", "--porcelain", "--", "results") == ""


def test_shards_of_one_commit_merge_into_the_whole(clones: tuple[Project, Project]) -> None:
    for number, project in enumerate(clones, start=1):
        arguments = project.run_arguments()
        project.asv(*arguments, ASV_WATCH_SHARD=f"{number}/2", ASV_WATCH_RESUME="missing")
        assert len(project.lines()) == 3
        git(project.folder, "add", "results")
        git(project.folder, "commit", "--quiet", "--message", f"Shard {number}")
    one, other = clones
    _pull(one, other)
    cases = [line["case"] for line in one.lines()]
    assert len(cases) == len(set(cases)) == 6, "each case is measured once"
    for benchmark in ("time_it", "track_it"):
        values = [
            series.runs[_first_commit(one)].point
            for series in load_history(one.folder / "results", read_commits(one.folder)).series
            if series.case.benchmark.endswith(benchmark)
        ]
        assert len(values) == 3
        assert None not in values
