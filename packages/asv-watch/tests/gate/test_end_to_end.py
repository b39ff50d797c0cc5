"""A pull request from its diff to its comment, by the steps of the action that measures it."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from asv_watch.cli.main import main
from asv_watch.gate import command as gate_command
from tests import torchless
from tests.clockwork import CLOCK
from tests.conftest import REPOSITORY, commit, git, run

SUITE = f"""{CLOCK}
class Suite:
    params = ["quick", "slow"]
    param_names = ["way"]
    timer = Clock.read
    sample_time, warmup_time = 0.005, 0

    def setup(self, way):
        from importlib import import_module
        self.work = import_module("package.ways." + way).work

    def time_work(self, way):
        seconds = self.work()
        Clock.now += random.gauss(seconds, 0.002 * seconds)
"""
WORK = """
def work():
    return {seconds}
"""
NOTES_KEPT = {".gitignore": ".asv/\nhtml/\nresults/*\n!results/notes.toml\n"}
MEASURED: dict[str, Any] = {"measured_paths": ["benchmarks", "src"]}


ACTION = yaml.safe_load((REPOSITORY / ".github/actions/gate/action.yml").read_text())
[SCRIPT] = [step["run"] for step in ACTION["runs"]["steps"] if step.get("name") == "Measure"]


class Runner:
    """What runs the step: a checkout as a workflow has it, and variables."""

    def __init__(self, checkout: Path, temporary: Path) -> None:
        self.checkout, self.temporary = checkout, temporary
        program = temporary / "asv-watch/bin/asv-watch"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m asv_watch.cli "$@"\n')
        program.chmod(0o755)

    def measure(self) -> tuple[str, list[dict[str, Any]], str]:
        """Run the step; return the gate's status, the cases and the comment that it uploads."""
        shutil.rmtree(self.temporary / "gate", ignore_errors=True)
        variables = {
            "HOME": str(self.temporary),
            "CUDA_VISIBLE_DEVICES": "",
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_OUTPUT": str(self.temporary / "output"),
            "GITHUB_STEP_SUMMARY": str(self.temporary / "summary.md"),
            **{"BASE": "origin/main", "PULL_REQUEST": "7", "LIMIT": "5min", "THRESHOLD": "3%"},
            **{"UNDECIDED": "fail", "CASES": "", "MACHINE": "m"},
        }
        shell = "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", SCRIPT
        run(*shell, cwd=self.checkout, env=os.environ | variables)
        status = (self.temporary / "output").read_text().splitlines()[-1].partition("=")[2]
        files = self.temporary / "gate"
        assert (files / "pull-request").read_text() == "7\n"
        answer = json.loads((files / "gate.json").read_text())
        return status, answer["differences"], (files / "gate.md").read_text()


@pytest.fixture
def runner(make_project: Callable[..., Path], made_environment: Path, tmp_path: Path) -> Runner:
    """A clone at a pull request: on no branch, and without a local main."""
    files = {
        "src/package/ways/__init__.py": "from package.ways import quick, slow\n",
        "src/package/ways/slow.py": WORK.format(seconds=0.0020),
        "src/package/ways/quick.py": WORK.format(seconds=0.0010),
    }
    origin = make_project(SUITE, files, **MEASURED)
    git(origin, "checkout", "--quiet", "-b", "change")
    commit(origin, {"src/package/ways/slow.py": WORK.format(seconds=0.0026)}, "Do more in one way")
    git(origin, "checkout", "--quiet", "main")
    commit(origin, {"src/package/ways/quick.py": WORK.format(seconds=0.0090)}, "Merged meanwhile")
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(origin), "checkout")
    git(checkout, "checkout", "--quiet", "--detach", "origin/change")
    git(checkout, "branch", "--quiet", "-D", "main")
    torchless.give_environment(checkout, made_environment)
    return Runner(checkout, tmp_path / "runner")


def test_a_slower_pull_request_fails_until_a_note_accepts_it(runner: Runner) -> None:
    status, cases, comment = runner.measure()
    assert status == "4"
    [slow] = cases  # what the diff does not touch is not measured
    assert slow["case"] == "suite.Suite.time_work('slow')"
    assert 1.28 < slow["ratio"] < 1.32
    assert slow["worse"]
    percent = f"{(slow['ratio'] - 1) * 100:+.1f} %"
    assert comment.startswith(f"1 of 1 cases slower, worst {percent} (")
    assert "**The gate fails: 1 slower by 3.0 % or more.** To accept that" in comment
    assert (runner.temporary / "summary.md").read_text() == comment

    change = git(runner.checkout, "rev-parse", "HEAD")
    note = 'commit = "{}"\nkind = "expected"\ntext = "more is done"\ncases = ["*slow*"]\n'
    notes = "[[change]]\n" + note.format(git(runner.checkout, "rev-parse", "HEAD~1"))
    notes += "[[change]]\n" + note.format(change[:8])
    commit(runner.checkout, NOTES_KEPT | {"results/notes.toml": notes}, "Accept it")
    status, [slow], comment = runner.measure()
    assert (status, slow["expected"]) == ("0", "expected: more is done")
    assert "The gate passes although 1 slower by 3.0 % or more" in comment
    assert "| slower: `expected: more is done` |" in comment


def test_damaged_notes_are_named_before_anything_is_built(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = NOTES_KEPT | {"results/notes.toml": "[[change]]\n"}
    commit(runner.checkout, files, "Forget what is meant")
    monkeypatch.chdir(runner.checkout)
    assert main(["gate", "--base", "origin/main", "--machine", "m"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "notes.toml of the head is damaged" in line
    assert "docs/pull-requests.md" in line


def test_no_case_is_profiled_if_building_and_listing_took_the_time_for_it(
    runner: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The cases are measured in the order of names."""
    monkeypatch.setattr(gate_command, "_LEAST_SHARE_OF_MEASURING", 1.0)
    monkeypatch.chdir(runner.checkout)
    arguments = ["--base", "origin/main", "--machine", "m", "--undecided", "pass"]
    assert main(["gate", *arguments, "--limit", "5min"]) in {0, 4}
    printed = capsys.readouterr().out
    assert re.search(r"^building and listing took .+ of 5 min.*: no case is", printed, re.M), (
        printed
    )
    assert "profiling which" not in printed
    assert re.search(r"^round 1 \[1/2\] suite.Suite.time_work\('slow'\)", printed, re.M), printed

    commit(tmp_path / "checkout", {"README.md": "Two ways to work."}, "Explain")
    arguments = ["--base", "HEAD~1", "--machine", "m"]
    assert main(["gate", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "none of which changes measured code" in printed
    assert "no case is profiled" not in printed, "none is measured either"


def test_a_benchmark_may_have_its_own_threshold_and_another_may_be_ignored_for_a_reason(
    runner: Runner, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    slower: dict[str, Any] = {"suites": {"suite.Suite.time_work": {"threshold": "40%"}}}
    commit(checkout, torchless.project_files(SUITE, **MEASURED, **slower), "Allow more")
    status, [slow], comment = runner.measure()
    assert (status, slow["worse"]) == ("0", True), "30 % slower"
    assert "(its threshold is 40 %)" in comment

    ignored: dict[str, Any] = {"suites": {"suite.Suite": {"ignore": "it reads the network"}}}
    commit(checkout, torchless.project_files(SUITE, **MEASURED, **ignored), "Ignore it")
    status, cases, _ = runner.measure()
    assert {case["reason"] for case in cases} == {"ignored: it reads the network"}
    assert status == "0"
