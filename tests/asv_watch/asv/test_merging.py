"""Two machines of one name measure one commit, and git merges their results without loss."""

from __future__ import annotations

import json
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


def _run(project: Project, *cases: str, resume: str = "") -> None:
    """Measure cases of the first commit."""
    arguments = project.run_arguments(*(f"--bench=it..{case}" for case in cases))
    arguments[arguments.index("HEAD")] = _first_commit(project)
    project.asv(*arguments, ASV_WATCH_RESUME=resume)


def _measure(project: Project, *cases: str) -> None:
    """Measure cases as far as they are missing, and commit the results.

    The machines have one name and different amounts of memory.
    """
    _run(project, *cases, resume="missing")
    machine = project.results / "machine.json"
    facts = json.loads(machine.read_text()) | {"ram": f"{len(str(project.folder))} GiB"}
    machine.write_text(json.dumps(facts, indent=4, sort_keys=True))
    git(project.folder, "add", "results")
    git(project.folder, "commit", "--quiet", "--message", f"Measure {', '.join(cases)}")


def _pull(project: Project, other: Project) -> None:
    git(project.folder, "pull", "--quiet", "--no-rebase", str(other.folder), "main")
    assert git(project.folder, "status", "--porcelain", "--", "results") == ""


def _lines(project: Project) -> int:
    return len(project.result_file().read_text().splitlines())


def _samples(project: Project) -> dict[str, tuple[float, ...]]:
    history = load_history(project.folder / "results", read_commits(project.folder))
    assert history.problems == ()
    samples = {}
    for series in history.series:
        [run] = [run for run in series.runs.values() if run.point is not None]
        assert run.point is not None
        samples[series.case.name] = run.point.samples
    return samples


def test_a_merge_of_two_machines_keeps_what_both_measured(
    clones: tuple[Project, Project],
) -> None:
    entry, other = clones
    _measure(entry, "both", "one")
    _measure(other, "both", "other")
    stored = [project.stored("samples", "suite.Suite.time_it") for project in clones]
    _pull(entry, other)
    _pull(other, entry)
    assert _lines(entry) == 2
    merged = _samples(entry)
    assert sorted(map(len, merged.values())) == [0, 0, 0, 10, 10, 20]
    assert merged == _samples(other), "it does not matter who merges"
    assert set(merged["suite.Suite.time_it('both')"]) == {*stored[0][0], *stored[1][0]}
    assert merged["suite.Suite.time_it('one')"] == tuple(stored[0][1])
    assert merged["suite.Suite.time_it('other')"] == tuple(stored[1][2])
    assert json.loads((entry.results / "machine.json").read_text())["machine"] == "m"
    # asv reads it too, and nothing of it is measured again.
    assert "time_it" in entry.asv("show", _first_commit(entry))
    before = len(entry.lines())
    _run(entry, "both", "one", "other", resume="missing")
    assert len(entry.lines()) == before
    assert _samples(entry) == merged


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
