"""Sessions on a GPU machine, tried with an imitated GPU: prepared, measured in time, stored."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from asv_watch.engine.cases import MeasurableCase
from asv_watch.machine.children import Child
from asv_watch.records.measurements import read_comparisons, read_version
from asv_watch.records.records import Outcome
from asv_watch.records.result_files import read_result_file
from asv_watch.records.side_files import read_records
from asv_watch.versions.git import ask_git
from tests.conftest import git, run
from tools.gpu import plan, programs, store
from tools.gpu.prepare import ROOT, Prepared, prepare
from tools.gpu.session import Session
from tools.gpu.store import Lines, Store, machine_of
from torchspeed.models.fastest import FILE, measured
from torchspeed.workloads import list_workloads

pytestmark = pytest.mark.timeout(1800)  # two sessions, whose processes import torch often
IMITATED = "tests/imitated_gpu"
EAGER = "plain.PlainModels.time_forward('lenet5', 'cuda')"
GRAPH = "plain_graphs.PlainGraphs.time_forward('lenet5', 'cuda', 'cudagraph')"
LAUNCHES = "device_time.DeviceTime.track_launches_forward('lenet5', 'cuda', 'plain', 'eager')"
TRIED = [
    EAGER,
    GRAPH,
    LAUNCHES,
    "plain.PlainModels.time_forward('dlinear', 'cuda')",
    "latency.Latency.track_median('lenet5', 'cuda', 'eager')",
    "training.TrainingStep.time_step('lenet5', 'cuda')",
    "modes.Compilation.track_compile_seconds_forward('lstnet', 'cuda')",
    "modes.Modes.time_forward('lstnet', 'cuda', 'compiled')",
    "fused.Fused.time_forward('tpa_lstm', 'cuda', 'eager')",
    "batches.SmallCNNs.time_forward('lenet5', 'cpu', 'tuned', 'all', 'source')",
    "batches.TimeSeries.time_forward('lstnet', 'cuda', 'plain', 1, 32)",
    "batches.TimeSeries.time_forward('lstnet', 'cpu', 'plain', 'all', 32)",
    "batches.Forecasters.time_forward('dlinear', 'cuda', 'plain', 1, 'source')",
    "batches.Forecasters.time_forward('dlinear', 'cpu', 'plain', 'all', 'source')",
    "lenet5",
    programs.EXPECTED,
    "variants.CNNVariants.time_forward('lenet5', 'cuda', 'bf16', 'contiguous')",
]
"""A case or model of every step, whose work a CPU does in seconds."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Prepared]:
    folder = tmp_path_factory.mktemp("gpu") / "prepared"
    if not ask_git(ROOT, "rev-parse", "--verify", "HEAD~1"):
        pytest.skip("a clone of one commit has no older one to compare with")
    return folder, prepare(ROOT, folder, ["HEAD~1"])


def _with_imitated_gpu(project: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": f"{project / IMITATED}{os.pathsep}{project / 'src'}",
        "PATH": f"{project / IMITATED / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }


@pytest.fixture(scope="module")
def lines(prepared: tuple[Path, Prepared], tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """What both sessions measure of the cases above, on the imitated GPU."""
    folder, out = prepared[0], tmp_path_factory.mktemp("out")
    project = folder / "project"
    # The tests themselves are for a real GPU.
    environment = _with_imitated_gpu(project) | {"PYTEST_ADDOPTS": "--collect-only"}
    arguments = ["--prepared", str(folder), "--out", str(out), "--rounds", "2"]
    arguments += ["--budget", "3000", "--share", "5", "--small"]  # other tests share the machine
    arguments += ["--only", "|".join(f"^{re.escape(case)}$" for case in TRIED)]
    for name in ("first", "second"):
        command = [sys.executable, "-m", "tools.gpu.session", name, *arguments]
        subprocess.run(command, cwd=project, env=environment, check=True)
    with (out / "gpu.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"kind": "measured", "case": "cut by a ki')
    return Lines([out])


def test_every_step_has_cases_and_those_of_the_first_minutes_are_of_a_gpu(
    prepared: tuple[Path, Prepared],
) -> None:
    cases = prepared[1].cases
    for step in (*plan.FIRST, *plan.SECOND):
        chosen = step.chosen(cases)
        assert bool(chosen) != bool(step.command), step.name
        on_cpu = [case.name for case in chosen if "'cpu'" in case.name]
        assert bool(on_cpu) == (step.name in {"host", "crossover"}), step.name
        assert all(case.can_fork == ("'cuda" not in case.name) for case in chosen), step.name
        assert step.command or any(case.name in TRIED for case in chosen), step.name


@pytest.mark.parametrize("session", sorted(plan.SESSIONS))
def test_no_step_is_left_out_if_all_before_it_take_their_whole_time(session: str) -> None:
    ends: dict[str, float] = {}
    now = 0.0
    for step in plan.SESSIONS[session]:
        now = max(now, ends.get(step.after, 0.0))
        ends[step.name] = now + step.seconds + plan.GRACE_S
        if not step.background:
            now = ends[step.name]
    assert max(ends.values()) <= plan.BUDGETS[session] - plan.RESERVE_S
    assert plan.BUDGETS[session] <= 600, "the most that one command may take on such machines"


def test_the_crossover_measures_every_forecaster_on_both_devices(
    prepared: tuple[Path, Prepared],
) -> None:
    chosen = plan.find_step("second", "crossover").chosen(prepared[1].cases)
    measured = {tuple(re.findall(r"\('(\w+)', '(\w+)'", case.name)[0]) for case in chosen}
    models = [*list_workloads("time_series"), *list_workloads("forecaster")]
    assert measured == set(itertools.product(models, ["cpu", "cuda"]))


def test_no_process_of_a_gpu_is_one_that_forks(
    prepared: tuple[Path, Prepared], tmp_path: Path
) -> None:
    session = Session("second", prepared[0], tmp_path)
    for step in plan.SECOND:
        cases = session.cases(step, step.seconds)
        shared = {case.process for case in cases if not case.can_fork}
        assert shared.isdisjoint(case.process for case in cases if case.can_fork)


def test_all_steps_end_in_time_and_nothing_fails(
    prepared: tuple[Path, Prepared], lines: Lines
) -> None:
    ended = [line["step"] for line in lines.of_kind("step")]
    assert sorted(ended) == sorted(step.name for step in (*plan.FIRST, *plan.SECOND))
    assert "tests collected" in str(lines.of_kind("tests")[0]["last_lines"])
    failed = [line for line in lines.of_kind("unmeasured") if "failed" in line]
    assert not failed
    skipped = {
        line["case"]: line["skipped"]
        for line in lines.of_kind("unmeasured")
        if line["commit"] == prepared[1].newest  # an older one may lack what a case needs
    }
    assert {"Triton" in reason for reason in skipped.values()} == {True}
    assert set(lines.measured()) | set(skipped) == {case for case in TRIED if "(" in case}


def test_clocks_of_the_device_are_recorded_after_each_step(lines: Lines) -> None:
    ended = [line for line in lines.of_kind("step") if "after" in line]
    assert {line["after"]["gpus"][0]["sm_mhz"] for line in ended} == {1755.0}


def test_commits_are_measured_until_their_ratio_is_known_and_first_calls_do_not_count(
    prepared: tuple[Path, Prepared], lines: Lines
) -> None:
    rounds = [line["numbers"] for line in lines.measured()[GRAPH]]
    assert len(rounds) > 1
    assert {tuple(numbers) for numbers in rounds} == {prepared[1].commits}
    assert all(side["calls"] > 1 for numbers in rounds for side in numbers.values())


def test_a_ratio_gets_rounds_until_it_is_known_to_two_per_cent(
    prepared: tuple[Path, Prepared], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = prepared[1].commits
    rounds: Counter[str] = Counter()

    def measure(
        self: Session, step: plan.Step, number: int, case: MeasurableCase, servers: object
    ) -> dict[str, float]:
        rounds[case.name] += 1
        if case.name == EAGER:
            return {older: 1.0, newer: 1.05 + 0.001 * (number % 2)}
        return {newer: 1.0} if case.name == LAUNCHES else {older: 1.0, newer: 1.0 + number % 2}

    monkeypatch.setattr(Session, "_measure_case", measure)
    monkeypatch.setattr(Session, "_server", lambda *arguments: contextlib.nullcontext())
    cases = [f"^{re.escape(name)}$" for name in (EAGER, GRAPH, LAUNCHES)]
    history = plan.find_step("first", "history")
    step = dataclasses.replace(history, cases=tuple(cases), without="$^", all_cores=True)
    Session("first", prepared[0], tmp_path)._measure(step, time.monotonic() + 60)
    assert rounds == {EAGER: 5, LAUNCHES: 5, GRAPH: 12}


def test_what_a_session_measured_is_stored_as_a_run_and_a_comparison_of_its_card(
    prepared: tuple[Path, Prepared], lines: Lines, tmp_path: Path
) -> None:
    content = prepared[1]
    machine = machine_of(lines.card())
    assert machine == "imitated-gpu"
    Store(tmp_path, content, machine, lines).store()
    [comparison], problems = read_comparisons(tmp_path)
    assert not problems
    assert {EAGER, GRAPH} <= {ratio.case for ratio in comparison.ratios}
    for commit in content.commits:
        [path] = (tmp_path / machine).glob(f"{commit[:8]}-*.json")
        assert read_result_file(path).commit_hash == commit
        cases, damaged = read_version(path.with_suffix(".measured.jsonl"))
        assert not damaged
        assert cases[EAGER].outcome(0)[0] is Outcome.OK
        assert len(cases[EAGER].rounds) == len(lines.measured()[EAGER])
        [record] = read_records(path.with_suffix(".environment.jsonl"))[0]
        assert record.environment["package torch"]
        assert record.after["gpus 0 sm_mhz"] == "1755.0"
    assert cases[LAUNCHES].outcome(0)[0] is Outcome.OK
    compiled = cases["modes.Modes.time_forward('lstnet', 'cuda', 'compiled')"]
    outcome, reason = compiled.outcome(0)
    assert (outcome, "\n" in reason) == (Outcome.SKIPPED, False)


def test_what_a_session_measured_is_on_the_site(
    prepared: tuple[Path, Prepared], lines: Lines, tmp_path: Path
) -> None:
    Store(tmp_path / "results", prepared[1], "imitated-gpu", lines).store()
    git(tmp_path, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), "repository")
    git(tmp_path / "repository", "update-ref", "refs/heads/main", prepared[1].newest)
    settings = {"version": 1, "project": "torchspeed", "repo": "repository"}
    settings |= {"branches": ["main"], "plugins": [".asv_watch"]}
    (tmp_path / "asv.conf.json").write_text(json.dumps(settings))
    run(sys.executable, "-m", "asv", "publish", "--no-pull", cwd=tmp_path)
    index = json.loads((tmp_path / "html" / "index.json").read_text())
    assert [machine["name"] for machine in index["machines"]] == ["imitated-gpu"]
    status = {index["cases"][row["c"]]["key"]: row["status"] for row in index["series"]}
    assert (status[EAGER], status[GRAPH], status[LAUNCHES]) == ("ok", "ok", "ok")


def test_implementations_are_measured_beside_each_other_eager_and_as_graphs(lines: Lines) -> None:
    [found] = lines.of_kind("fastest")
    assert found["processor"] == "Imitated GPU"
    assert set(found["choices"]) == {"lenet5"}
    assert set(found["choices"]["lenet5"]) == {"forward", "backward"}
    ratios = found["plain_over_own_time"]["forward"]
    assert set(ratios) == {"1", "32", "128"}
    assert set(ratios["1"]) == {"plain eager", "tuned eager"}
    assert set(ratios["128"]) == {f"{name} {mode}" for name in ("plain", "tuned")
                                  for mode in ("eager", "cudagraph")}  # fmt: skip


def test_expected_speed_of_training_is_shown_beside_the_measured_one(lines: Lines) -> None:
    [found] = lines.of_kind("expected")
    assert "here / 1 A40" in "\n".join(found["last_lines"])
    assert (lines.folders[0] / f"{programs.EXPECTED}.svg").exists()


def test_storing_writes_results_choices_and_what_belongs_to_no_case(
    prepared: tuple[Path, Prepared],
    lines: Lines,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = FILE.read_text()
    store.main([str(prepared[0]), *map(str, lines.folders), "--results", str(tmp_path)])
    printed = capsys.readouterr().out
    assert re.search(r"`dlinear` +\| forward \| (at|from) .*32: [\d,.]+ / [\d,.]+", printed)
    assert re.search(r"`lstnet` +\| forward \| (at|from) .*32: [\d,.]+ / [\d,.]+", printed)
    assert FILE.read_text() == before, "that is for this project's own results"
    chosen = measured(tmp_path / FILE.name)["cuda"]["Imitated GPU"]
    assert set(chosen) == {"lenet5"}
    [file] = (tmp_path / "imitated-gpu").glob("session-*.jsonl")
    kinds = Counter(json.loads(line)["kind"] for line in file.read_text().splitlines())
    assert set(kinds) == {"step", "tests", "expected", "fastest", "spread"}
    assert kinds["step"] == len(plan.FIRST) + len(plan.SECOND)


@pytest.mark.parametrize(
    ("card", "machine"),
    [("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"), ("", "")],
)
def test_results_are_named_after_their_card(card: str, machine: str) -> None:
    assert machine_of(card) == machine


def _session_on(card: str, folder: Path) -> Path:
    line: dict[str, Any] = {"kind": "machine", "at": 1, "machine": {"gpu 0 name": card}}
    out = folder / card
    out.mkdir()
    (out / "gpu.jsonl").write_text(json.dumps(line) + "\n")
    return out


def test_values_of_two_cards_are_never_stored_under_one_name(
    prepared: tuple[Path, Prepared], tmp_path: Path
) -> None:
    h100, h200 = (_session_on(card, tmp_path) for card in ("NVIDIA H100", "NVIDIA H200"))
    with pytest.raises(SystemExit, match="results of NVIDIA H100 and NVIDIA H200; store those"):
        Lines([h100, h200]).card()
    with pytest.raises(SystemExit, match="h200 has results of NVIDIA H200, and these"):
        Store(ROOT / "results", prepared[1], "h200", Lines([h100]))


def test_a_session_with_little_time_and_a_device_that_hangs_stores_what_it_measured_before(
    prepared: tuple[Path, Prepared],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, hangs = tmp_path / "out", tmp_path / "hangs"
    imitated = _with_imitated_gpu(prepared[0] / "project")
    for name, value in (imitated | {"IMITATED_GPU_HANGS": str(hangs)}).items():
        monkeypatch.setenv(name, value)
    first, second = (f"plain.PlainModels.time_forward('{m}', 'cuda')" for m in ("dlinear", "tcn"))
    machine, today, history = (
        plan.find_step("first", name) for name in ("machine", "today", "history")
    )
    # However busy the machine is, there is time for the first two, and never for the last.
    own = (
        machine,
        dataclasses.replace(today, seconds=600),
        dataclasses.replace(history, seconds=6000),
    )
    monkeypatch.setitem(plan.SESSIONS, "first", own)
    wait = Session._wait

    def wait_until_one_is_measured(self: Session, name: str, child: Child, until: float) -> None:
        if name == "today":
            file = out / "gpu.jsonl"
            while child.process.poll() is None and not (
                file.exists() and first in file.read_text()
            ):
                time.sleep(0.05)
            hangs.touch()
            until = time.monotonic() + 2
        wait(self, name, child, until)

    monkeypatch.setattr(Session, "_wait", wait_until_one_is_measured)
    Session("first", prepared[0], out, f"{re.escape(first)}|{re.escape(second)}").run(700)
    running = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not [command for command in running if str(out) in command]
    store.main([str(prepared[0]), str(out), "--results", str(tmp_path / "results")])
    [path] = (tmp_path / "results/imitated-gpu").glob("*.measured.jsonl")
    assert read_version(path)[0][first].outcome(0)[0] is Outcome.OK
    printed = capsys.readouterr().out
    assert re.findall(r"step (\w+) was left out: \d+ s left", printed) == ["history"]
    assert re.findall(r"step (\w+) was killed: its time was up", printed) == ["today"]
