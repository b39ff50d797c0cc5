"""A pull request from its diff to its comment, by the steps of the two workflows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

from asv_watch.cli.main import main
from asv_watch.gate import command as gate_command
from asv_watch.gate.comment_command import reason_in
from asv_watch.gate.result import GateCase
from asv_watch.records.notes import read_notes
from asv_watch.versions.commits import Commit
from tests.asv_watch import torchless
from tests.asv_watch.clockwork import CLOCK
from tests.asv_watch.gate.fake_github import TOKEN, FakeGitHub, serve
from tests.asv_watch.gate.results import change, result, result_file
from tests.conftest import ROOT, commit, git, run

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
MEASURED: dict[str, Any] = {"measured_paths": ["benchmarks", "src"]}
LABEL = "slower-accepted"


def _step(action: str, name: str) -> str:
    steps = yaml.safe_load((ROOT / f".github/actions/{action}/action.yml").read_text())["runs"]
    [script] = [step["run"] for step in steps["steps"] if step.get("name") == name]
    return str(script)


class Runner:
    """What runs the steps: a checkout as a workflow has it, and variables."""

    def __init__(self, checkout: Path, temporary: Path) -> None:
        self._checkout = checkout
        self._temporary = temporary
        programs = temporary / "asv-watch/bin"
        programs.mkdir(parents=True)
        for name, module in (("asv-watch", "-m asv_watch.cli"), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            program.chmod(0o755)
        self._variables = os.environ | {
            "HOME": str(temporary),
            "CUDA_VISIBLE_DEVICES": "",
            "RUNNER_TEMP": str(temporary),
            "GITHUB_OUTPUT": str(temporary / "output"),
            "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        }

    def run(self, action: str, name: str, **variables: str) -> subprocess.CompletedProcess[str]:
        shell = "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"
        return run(
            *shell, _step(action, name),
            cwd=self._checkout, env=self._variables | variables, status=None,
        )  # fmt: skip

    def measure(self, base: str, **variables: str) -> dict[str, Any]:
        """Run the measuring step; return the result that it would upload."""
        defaults = {"PULL_REQUEST": "7", "LIMIT": "5min", "THRESHOLD": "3%", "CASES": ""}
        done = self.run("gate", "Measure", BASE=base, MACHINE="m", **(defaults | variables))
        assert done.returncode == 0, done.stdout + done.stderr
        answer = json.loads((self._temporary / "gate.json").read_text())
        assert (answer["schema"], answer["command"]) == (1, "gate")
        result: dict[str, Any] = answer["gate"]
        return result

    @property
    def status(self) -> str:
        """Exit status of the gate, as the step passes it on."""
        return (self._temporary / "output").read_text().splitlines()[-1].partition("=")[2]


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    """A server, and the variables with which a workflow finds it."""
    with serve() as server:
        monkeypatch.setenv("GITHUB_API_URL", server.address)
        monkeypatch.setenv("GITHUB_REPOSITORY", "owner/project")
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield server


@pytest.fixture
def runner(
    make_project: Callable[..., Path], made_environment: Path, tmp_path: Path, github: FakeGitHub
) -> Runner:
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
    github.head = git(checkout, "rev-parse", "HEAD")
    return Runner(checkout, tmp_path / "runner")


def test_a_slower_pull_request_is_measured_and_gets_one_comment_and_a_status(
    runner: Runner, github: FakeGitHub, tmp_path: Path
) -> None:
    result = runner.measure("origin/main")
    assert runner.status == "4"
    assert result["base"] == git(tmp_path / "checkout", "rev-parse", "HEAD~1")
    [slow] = result["cases"]  # what the diff does not touch is not measured
    assert slow["case"] == "suite.Suite.time_work('slow')"
    assert [1.28 < change["ratio"] < 1.32 for change in slow["changes"]] == [True, True]
    variables = {"RESULT": str(tmp_path / "runner/gate.json"), "HEAD": github.head}
    variables |= {"PULL_REQUEST": "0", "LABEL": LABEL, "LABELLED": "", "THRESHOLD": "3%"}
    variables |= {"UNDECIDED": "fail"}
    for _ in range(2):
        done = runner.run("gate-comment", "Comment", **variables)
        assert done.returncode == 0, done.stderr
    [comment] = github.comments
    percent = f"{(slow['changes'][-1]['ratio'] - 1) * 100:+.1f} %"
    assert comment["body"].startswith(f"1 of 1 cases slower, worst {percent} (")
    assert "**The gate fails: 1 slower by 3.0 % or more.**" in comment["body"]
    assert comment["body"] == (tmp_path / "runner/gate.md").read_text()
    assert (github.state, github.statuses[-1][0]) == ("failure", github.head)
    assert github.statuses[-1][1]["description"].startswith("1 of 1 cases slower")


def test_no_case_is_profiled_if_building_and_listing_took_the_time_for_it(
    runner: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The cases are measured in the order of names."""
    monkeypatch.setattr(gate_command, "_LEAST_SHARE_OF_MEASURING", 1.0)
    monkeypatch.chdir(tmp_path / "checkout")
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
    [slow] = runner.measure("origin/main")["cases"]
    assert slow["threshold"] == 0.4
    assert runner.status == "0", "30 % slower"
    assert "(its threshold is 40 %)" in (tmp_path / "runner/gate.md").read_text()

    ignored: dict[str, Any] = {"suites": {"suite.Suite": {"ignore": "it reads the network"}}}
    commit(checkout, torchless.project_files(SUITE, **MEASURED, **ignored), "Ignore it")
    cases = runner.measure("origin/main")["cases"]
    assert {case["skipped"] for case in cases} == {"ignored: it reads the network"}
    assert runner.status == "0"


@pytest.fixture
def measured(github: FakeGitHub, tmp_path: Path) -> str:
    """A result as another workflow hands it over: a case is slower by 6 %."""
    github.head = "b" * 40
    path = tmp_path / "gate.json"
    case = GateCase("s.time_a", (change(6), change(6)))
    path.write_bytes(result_file(result(case)))
    return str(path)


def _set_label(github: FakeGitHub, name: str = LABEL) -> None:
    """Set a label, as a person who may does, and run the workflow that this starts."""
    github.labels = sorted({*github.labels, name})
    arguments = ["--pull-request", "7", "--head", github.head, "--labelled", name]
    assert main(["gate-comment", *arguments, "--labelled-by", "ann"]) == 0


def test_a_label_with_a_reason_accepts_a_slowdown(measured: str, github: FakeGitHub) -> None:
    for _ in range(120):
        github.add_comment("somebody", "0 of 9 cases slower.\n\n<!-- asv-watch-gate  -->")
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    assert github.state == "failure"
    _set_label(github)
    assert github.state == "failure"
    assert f"needs a line `{LABEL}: reason`" in github.comments[-1]["body"]
    github.description = f"Why\r\n{LABEL}: it is <b>right</b> now\r\n"
    _set_label(github)
    assert github.state == "success"
    assert "Accepted by `ann` because: `it is <b>right</b> now`" in github.comments[-1]["body"]
    _set_label(github, "another")
    assert github.state == "success"
    github.labels = []
    assert main(["gate-comment", "--pull-request", "7", "--head", github.head]) == 0
    assert github.state == "failure"
    assert len(github.comments) == 121  # one of them is ours


def test_after_the_merge_the_comment_holds_a_note_that_the_page_shows(
    measured: str, github: FakeGitHub, tmp_path: Path
) -> None:
    github.description = f'{LABEL}: a "longer" window\x7f ``` [[change]]'
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    _set_label(github)
    assert 'commit = "HASH of the commit on the branch"' in github.comments[-1]["body"]
    github.merged_as = "d" * 40
    assert main(["gate-comment", "--pull-request", "7", "--head", github.head]) == 0
    body = github.comments[-1]["body"]
    [entry] = re.findall(r"^```toml\n(.*?)^```$", body, re.DOTALL | re.MULTILINE)
    (tmp_path / "notes.toml").write_text(entry)
    commits = [Commit(letter * 40, 0, "a subject") for letter in "cd"]
    notes, problems = read_notes(tmp_path, commits)
    assert problems == []
    note = notes.about("any machine", "s.time_a", 0, 1)
    assert note is not None
    reason = 'a "longer" window\N{REPLACEMENT CHARACTER} ``` [[change]] (pull request 7)'
    assert note.in_words == f"expected, by ann: {reason}"
    assert notes.about("any machine", "s.time_b", 0, 1) is None


@pytest.mark.fault("hostile pull requests", tried="commits after a label")
def test_an_accepted_slowdown_does_not_outlive_a_push(measured: str, github: FakeGitHub) -> None:
    github.description = f"{LABEL}: longer input"
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    _set_label(github)
    assert github.state == "success"
    case = GateCase("s.time_a", (change(90), change(90)))
    github.head = "c" * 40
    Path(measured).write_bytes(result_file(result(case, head=github.head)))
    _set_label(github, "another")
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    assert (github.state, github.statuses[-1][0]) == ("failure", github.head)
    assert "does not accept this commit yet" in github.comments[-1]["body"]
    assert (
        main(["gate-comment", "--pull-request", "7", "--head", "b" * 40, "--labelled", LABEL]) == 0
    )
    assert github.state == "failure"
    _set_label(github)
    assert github.state == "success"


@pytest.mark.fault(
    "hostile pull requests", tried="two pull requests with one head", holds="the status fails"
)
def test_a_head_of_two_pull_requests_does_not_pass(measured: str, github: FakeGitHub) -> None:
    github.same_head = [12]
    Path(measured).write_bytes(result_file(result()))
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    assert github.state == "failure"
    assert github.statuses[-1][1]["description"].startswith("#7, #12 have one head commit")
    github.same_head = []
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    assert github.state == "success"


@pytest.mark.fault("hostile pull requests", tried="an artifact that names a threshold")
def test_the_threshold_is_that_of_the_workflow(
    measured: str, github: FakeGitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate-comment", measured, "--head", github.head, "--threshold", "7%"]) == 0
    assert github.state == "success"
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    assert github.state == "failure"
    content = json.loads(Path(measured).read_text())
    content["gate"]["threshold"] = 9
    Path(measured).write_text(json.dumps(content))
    assert main(["gate-comment", measured, "--head", github.head]) == 1
    assert "is not a result of `asv-watch gate`" in capsys.readouterr().err


@pytest.mark.timeout(20)
@pytest.mark.fault("hostile pull requests", tried="65,536 line breaks")
def test_a_long_description_takes_no_time() -> None:
    started = time.process_time()
    assert reason_in("\n" * 65_536 + f"{LABEL} : longer", LABEL) == "longer"
    assert time.process_time() - started < 1


@pytest.mark.fault(
    "wrong configurations and requests",
    tried="a missing file for `gate-comment`",
)
def test_a_wrong_file_is_one_line(
    github: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (str(tmp_path / "missing.json"), str(tmp_path), "a\0b"):
        assert main(["gate-comment", name, "--head", github.head]) == 1
        printed = capsys.readouterr().err
        assert "give the file that `asv-watch gate --json` wrote" in printed
        assert printed.count("\n") == 1


def test_the_job_with_the_token_installs_pinned_files_alone(tmp_path: Path) -> None:
    """Every distribution that `gate-comment` imports to judge a slower case has a hash."""
    listed = (ROOT / ".github/actions/gate-comment/requirements.txt").read_text().splitlines()
    pinned = [line for line in listed if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w-]+==[\d.]+ --hash=sha256:[0-9a-f]{64}", line) for line in pinned)
    slower = tmp_path / "gate.json"
    slower.write_bytes(result_file(result(GateCase("s.time_x", (change(5), change(5))))))
    code = (
        "import asv_watch.cli.main, asv_watch.gate.comment_command, pathlib, sys\n"
        "from asv_watch.gate.comment import comment\n"
        "from asv_watch.gate.result import read_result\n"
        "assert 'slower' in comment(read_result(pathlib.Path(sys.argv[1])), 0.03)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    imported = run(sys.executable, "-c", code, slower, env=environment).stdout.split()
    distributions = metadata.packages_distributions()
    needed = {name for module in imported for name in distributions.get(module, ())}
    names = {line.partition("==")[0] for line in pinned}
    assert {name.replace("_", "-").lower() for name in needed} - names <= {
        "asv-watch", "setuptools", "torchspeed",
    }  # fmt: skip
    assert "--require-hashes" in _step("gate-comment", "Install asv-watch")


def test_a_result_of_another_commit_or_without_a_pull_request_is_refused(
    measured: str, github: FakeGitHub, capsys: pytest.CaptureFixture[str]
) -> None:
    for head in ("c" * 40, ""):
        assert main(["gate-comment", measured, "--head", head]) == 1
        assert "nothing was written" in capsys.readouterr().err
    github.head = "c" * 40  # pushed again since
    assert main(["gate-comment", measured, "--head", "b" * 40]) == 0
    assert "which was not measured" in capsys.readouterr().out
    Path(measured).write_bytes(result_file(result(pull_request=0)))
    assert main(["gate-comment", measured, "--head", "b" * 40]) == 1
    assert "names no pull request" in capsys.readouterr().err
    Path(measured).write_bytes(result_file(result(pull_request=8)))
    assert main(["gate-comment", measured, "--head", "b" * 40]) == 1
    assert "GitHub did not do GET pulls/8" in capsys.readouterr().err
    assert (github.statuses, github.comments) == ([], [])


def test_a_pull_request_that_touches_no_case_passes_without_a_comment(
    measured: str, github: FakeGitHub
) -> None:
    Path(measured).write_bytes(result_file(result()))
    assert main(["gate-comment", measured, "--head", github.head]) == 0
    assert (github.state, github.comments) == ("success", [])


def test_outside_a_workflow_it_says_what_is_missing(
    measured: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "")
    assert main(["gate-comment", measured, "--head", "b" * 40]) == 1
    assert "GITHUB_TOKEN is not set" in capsys.readouterr().err
