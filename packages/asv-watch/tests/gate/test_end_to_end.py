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
from asv_watch.gate import choice
from asv_watch.gate import command as gate_command
from tests import torchless
from tests.clockwork import CLOCK
from tests.conftest import REPOSITORY, commit, git, run, write_program
from tests.interruptible import run_driver

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

def track_it():
    return 1
"""
WORK = """
def work():
    return {seconds}
"""
NOTES_KEPT = {".gitignore": ".asv/\nhtml/\nresults/*\n!results/notes.toml\n"}
MEASURED: dict[str, Any] = {"measured_paths": ["benchmarks", "src"]}

ACTION = yaml.safe_load((REPOSITORY / ".github/actions/gate/action.yml").read_text())
[SCRIPT] = [step["run"] for step in ACTION["runs"]["steps"] if step.get("name") == "Measure"]


def measure(checkout: Path) -> tuple[str, list[dict[str, Any]], str]:
    """Run the step of a workflow; return the gate's status and the uploaded cases and comment."""
    temporary = checkout.with_name("runner")
    shutil.rmtree(temporary, ignore_errors=True)
    program = f'#!/bin/sh\nexec "{sys.executable}" -m asv_watch.cli "$@"\n'
    write_program(temporary / "asv-watch/bin/asv-watch", program)
    variables = {
        "HOME": str(temporary),
        "CUDA_VISIBLE_DEVICES": "",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        **{"BASE": "origin/main", "PULL_REQUEST": "7", "LIMIT": "5min", "THRESHOLD": "3%"},
        **{"UNDECIDED": "fail", "CASES": "", "MACHINE": "m"},
    }
    shell = "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", SCRIPT
    run(*shell, cwd=checkout, env=os.environ | variables)
    status = (temporary / "output").read_text().splitlines()[-1].partition("=")[2]
    files = temporary / "gate"
    comment = (files / "gate.md").read_text()
    assert (files / "pull-request").read_text() == "7\n"
    assert (temporary / "summary.md").read_text() == comment
    return status, json.loads((files / "gate.json").read_text())["differences"], comment


@pytest.fixture
def checkout(make_project: Callable[..., Path], made_environment: Path, tmp_path: Path) -> Path:
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
    return checkout


def test_a_slower_pull_request_fails_until_a_note_accepts_it(checkout: Path) -> None:
    status, cases, comment = measure(checkout)
    assert status == "4"
    [slow] = cases  # what the diff does not touch is not measured
    assert slow["case"] == "suite.Suite.time_work('slow')"
    assert 1.28 < slow["ratio"] < 1.32
    assert slow["worse"]
    percent = f"{(slow['ratio'] - 1) * 100:+.1f} %"
    assert comment.startswith(f"1 of 1 cases slower, worst {percent} (")
    for words in (
        "**The gate fails: 1 slower by 3.0 % or more.** To accept that",
        "\n\n| case | before | after | change | verdict |\n|---",
        "an error of 1 in 40,000 leaves out 1",
        "--cases '^suite.Suite.time_work..slow..$'`.",
    ):
        assert words in comment

    change = git(checkout, "rev-parse", "HEAD")
    note = 'commit = "{}"\nkind = "expected"\ntext = "more is done"\ncases = ["*slow*"]\n'
    note += 'by = "Ann"\n'
    notes = "[[change]]\n" + note.format(git(checkout, "rev-parse", "HEAD~1"))
    notes += "[[change]]\n" + note.format(change[:8])
    commit(checkout, NOTES_KEPT | {"results/notes.toml": notes}, "Accept it")
    status, [slow], comment = measure(checkout)
    assert (status, slow["expected"]) == ("0", "expected, by Ann: more is done")
    assert "The gate passes although 1 slower by 3.0 % or more" in comment
    assert "| slower: `expected, by Ann: more is done` |" in comment

    commit(checkout, {"results/notes.toml": "[[change]]\n"}, "Forget what is meant")
    _, errors = run_driver("gate", checkout, checkout.parent, "--base", "origin/main", status=1)
    [line] = errors.splitlines()
    assert "notes.toml of the head is damaged" in line
    assert "docs/pull-requests.md" in line


def test_no_case_is_profiled_if_building_and_listing_took_the_time_for_it(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cases are measured in the order of names, and none once the gate has failed."""
    monkeypatch.setattr(gate_command, "_LEAST_SHARE_OF_MEASURING", 1.0)
    monkeypatch.setattr(choice, "FIRST_TOGETHER", 1)
    monkeypatch.chdir(checkout)
    assert main(["gate", "--base", "origin/main", "--machine", "m", "--limit", "5min"]) == 4
    printed = capsys.readouterr().out
    assert re.search(r"^building and listing took .+ of 5 min.*: no case is", printed, re.M)
    assert "profiling which" not in printed
    assert re.search(r"^round 1 \[1/1\] suite.Suite.time_work\('slow'\) .* s left$", printed, re.M)
    assert "1 case left out for measuring no time; `asv-watch compare --values`" in printed
    assert "1 of 1 cases slower" in printed
    assert "1 not measured" in printed

    commit(checkout, {"README.md": "Two ways to work."}, "Explain")
    gate = "gate", "--base", "HEAD~1", "--machine", "m", "--comment"
    assert main([*gate, "."]) == 1
    assert capsys.readouterr().out == "", "its comment cannot be written, so nothing is measured"
    assert main([*gate, "gate.md"]) == 0
    printed = capsys.readouterr().out
    assert "none of which changes measured code" in printed
    assert "no case is profiled" not in printed, "none is measured either"


def test_a_benchmark_may_have_a_threshold_or_be_ignored(checkout: Path) -> None:
    slower: dict[str, Any] = {"suites": {"suite.Suite.time_work": {"threshold": "40%"}}}
    commit(checkout, torchless.project_files(SUITE, **MEASURED, **slower), "Allow more")
    status, [slow], comment = measure(checkout)
    assert (status, slow["worse"]) == ("0", True), "30 % slower"
    assert "(its threshold is 40 %)" in comment

    ignored: dict[str, Any] = {"suites": {"suite": {"ignore": "it reads the network"}}}
    commit(checkout, torchless.project_files(SUITE, **MEASURED, **ignored), "Ignore it")
    status, cases, _ = measure(checkout)
    assert {case["reason"] for case in cases} == {"ignored: it reads the network"}
    assert status == "0"
