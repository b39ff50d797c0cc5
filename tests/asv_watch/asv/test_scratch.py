"""Real asv runs in a folder of their own; and rounds that asv interleaves, told rightly."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.asv.commands import run_asv
from asv_watch.asv.scratch import ScratchProject
from asv_watch.asv.selection import EVERYTHING
from asv_watch.asv.settings import read_configuration
from asv_watch.progress import Progress
from asv_watch.records.git import read_commits
from asv_watch.records.loading import load_history
from asv_watch.records.series import Series
from tests.conftest import commit, git

SUITE = """
class Suite:
    rounds = 3
    repeat = 4
    number = 1
    warmup_time = 0

    def time_it(self):
        sum(range(20000))
"""


def _sample_counts(series: Series) -> dict[str, int]:
    """Commit to the number of samples that are stored of it."""
    return {commit: len(run.point.samples) for commit, run in series.runs.items() if run.point}


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    return make_project(SUITE)


def test_results_stay_in_the_folder_and_all_samples_are_kept(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    head = git(project, "rev-parse", "HEAD")
    [environment] = read_configuration(project).environments
    scratch = ScratchProject(tmp_path / "scratch", project, project)
    scratch.discover(head, environment, "m")
    assert (scratch.results / "benchmarks.json").is_file()
    assert not list(scratch.results.rglob("*-env-*.json")), "nothing was measured"
    scratch.measure(head, environment, "m", EVERYTHING, Progress({}, io.StringIO()))
    [series] = scratch.history(head).series
    assert _sample_counts(series) == {head: 3 * 4}
    [path] = scratch.results.rglob("*.outcomes.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["samples"] for line in lines] == [4] * 3, "which sample came from which process"
    assert not (project / "results").exists()


def test_rounds_of_several_commits_in_turn_are_planned_and_told_one_by_one(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    first, second = git(project, "rev-parse", "HEAD"), commit(project, {"x": "1"}, "Two")
    hashes = tmp_path / "hashes"
    hashes.write_text(f"{first}\n{second}\n")
    output = io.StringIO()
    progress = Progress({}, output, again=2 * 3 - 1)
    run_asv(
        project,
        ["run", "--machine", "m", "--interleave-rounds", f"HASHFILE:{hashes}"],
        progress,
    )
    history = load_history(project / "results", read_commits(project))
    [series] = history.series
    assert _sample_counts(series) == {first: 3 * 4, second: 3 * 4}
    assert len(re.findall(r"^\[1/1\] suite\.Suite\.time_it  ok", output.getvalue(), re.M)) == 6
    assert progress.seconds_left() == 0
