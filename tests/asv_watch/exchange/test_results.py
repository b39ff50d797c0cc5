"""`asv-watch results`: stored results are checked, merged and exported."""

from __future__ import annotations

import csv
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from asv_watch.cli.main import main
from asv_watch.engine.workplace import load_results
from tests.asv_watch import torchless
from tests.asv_watch.conftest import make_once
from tests.asv_watch.interruptible import run_driver
from tests.conftest import commit, git

SUITE = """
class Suite:
    params = ["a", "b", "broken"]
    param_names = ["kind"]
    number, repeat, warmup_time = 1, 3, 0

    def time_it(self, kind):
        if kind == "broken":
            raise RuntimeError("out of cheese")

def track_words():
    return 3
track_words.unit = "words"
"""


@pytest.fixture(scope="session")
def measured(made_environment: Path) -> Path:
    """A checkout with the results of one commit."""
    return make_once("measured", lambda folder: _measure(folder, made_environment)) / "checkout"


def _measure(made: Path, environment: Path) -> None:
    home, folder = made / "home", made / "checkout"
    home.mkdir()
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, torchless.project_files(SUITE, {".gitignore": ""}), "Begin")
    torchless.give_environment(folder, environment)
    run_driver("bench", folder, home, status=3)
    git(folder, "tag", "v1")


@pytest.fixture
def checkout(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it without its environment, in which commands run."""
    folder = tmp_path / "checkout"
    shutil.copytree(measured, folder, ignore=shutil.ignore_patterns(".asv"))
    monkeypatch.chdir(folder)
    return folder


def result_file(checkout: Path, machine: str = "m") -> Path:
    folder = checkout / "results" / machine
    [path] = (
        p for p in folder.glob("*-*.json") if p.name.count(".") == 1 or "virtualenv" in p.name
    )
    return path


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def values(checkout: Path) -> dict[tuple[str, str], float | None]:
    """(machine, case) to its value at the newest commit."""
    history = load_results(checkout)
    assert history.problems == ()
    points = {(s.machine, s.case.name): s.last.point for s in history.series}
    return {key: None if point is None else point.value for key, point in points.items()}


def other_machine(checkout: Path, to: Path, name: str = "n") -> Path:
    """Results as another machine would have them; the folder of results."""
    results = to / "results"
    shutil.copytree(checkout / "results", results)
    (results / "m").rename(results / name)
    edit(results / name / "machine.json", machine=name)
    path = result_file(to, name)
    content = json.loads(path.read_text())
    edit(path, params=content["params"] | {"machine": name})
    record = path.with_suffix(".measured.jsonl")
    record.write_text(record.read_text().replace('"machine":"m"', f'"machine":"{name}"'))
    return results


def test_sound_results_have_no_fault_and_each_fault_of_damaged_ones_is_named(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = checkout / "results/lab/comparisons"  # a machine that only compared commits
    compared.mkdir(parents=True)
    (checkout / "results/m/releases.jsonl").write_text("[]\n")  # earlier versions wrote it
    assert main(["results", "check"]) == 0
    assert capsys.readouterr().out.startswith("no faults")
    path = result_file(checkout)
    content = json.loads(path.read_text())
    column = content["result_columns"].index("result")
    row = content["results"]["suite.Suite.time_it"]
    row[column] = [-1.0, "fast", None]
    content["results"]["suite.track_words"] = [[1.0, 2.0], [["x"]]]
    content["commit_hash"] = "f" * 40
    path.write_text(json.dumps(content))
    (checkout / "results/m/machine.json").write_text('{"machine": "other", "version": 1}')
    side = next((checkout / "results/m").glob("*.measured.jsonl"))
    side.write_text(side.read_text() + "{\n")
    (checkout / "results/m/0a-x.json").write_text("{")
    orphan = checkout / "results/m/ffffffff-x.measured.jsonl"
    orphan.write_text("")
    assert main(["results", "check"]) == 1
    printed = capsys.readouterr().out
    for fault in (
        "time_it('a'): its value -1.0 seconds is not from 1e-12 to 1e+08",
        "time_it('b'): its value 'fast'",
        "suite.track_words: result must have one entry for each of the 1 cases",
        "its commit is ffffffffffff, but its name does not begin with that",
        "machine.json: it names the machine 'other'",
        "it names machine 'm', not 'other'",
        "is not a valid case",
        "0a-x.json: it is not JSON",
        f"{orphan}: the result file that it belongs to is missing",
    ):
        assert fault in printed, fault
    assert printed.splitlines()[-1].startswith("9 faults in ")


def test_a_missing_value_is_no_fault_in_a_file_with_nan_in_a_text(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = result_file(checkout)
    content = json.loads(path.read_text())
    row = content["results"]["suite.Suite.time_it"]
    row[content["result_columns"].index("result")][-1] = math.nan
    content["env_vars"] = {"WHY": "a NaN is skipped"}
    path.write_text(json.dumps(content))
    assert main(["results", "check"]) == 0
    assert capsys.readouterr().out.startswith("no faults")


@pytest.mark.parametrize("kind", ["folder", "branch"])
def test_results_of_another_machine_are_merged_from_anywhere(
    checkout: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = values(checkout)
    theirs = other_machine(checkout, tmp_path / "theirs")
    source = str(theirs.parent)
    if kind == "branch":
        git(checkout, "checkout", "--quiet", "-b", "night")
        shutil.rmtree(checkout / "results")
        shutil.copytree(theirs, checkout / "results")
        git(checkout, "add", "--force", "--all")
        git(checkout, "commit", "--quiet", "--message", "A night")
        git(checkout, "checkout", "--quiet", "main")
        source = "night"
    assert main(["results", "merge", source]) == 0
    merged = values(checkout)
    of_other = {("n", case): value for (_, case), value in before.items()}
    expected = of_other if kind == "branch" else before | of_other
    assert merged == expected
    capsys.readouterr()
    assert main(["results", "merge", source]) == 0
    assert ": 0 files added, 0 extended, " in capsys.readouterr().out
    assert main(["results", "check"]) == 0


@pytest.mark.parametrize("is_newer", [True, False])
def test_of_one_commit_on_one_machine_the_newer_result_file_and_all_records_are_kept(
    checkout: Path, tmp_path: Path, is_newer: bool
) -> None:
    theirs = tmp_path / "theirs"
    shutil.copytree(checkout / "results", theirs)
    path = next(theirs.glob("m/*-*.json"))
    content = json.loads(path.read_text())
    columns = content["result_columns"]
    for row in content["results"].values():
        row[columns.index("started_at")] += 1000 if is_newer else -1000
    content["results"]["suite.Suite.time_it"][columns.index("result")][0] = 2e-9
    path.write_text(json.dumps(content))
    side = next(theirs.glob("m/*.measured.jsonl"))
    late = {"case": "suite.Suite.time_it('broken')", "at": 4_000_000_000, "late": [0]}
    side.write_text(
        json.dumps(late | {"failed": {"0": "no answer"}}, separators=(",", ":")) + "\n"
    )
    own = checkout / "results/m"
    before = result_file(checkout).read_text()
    lines = (own / side.name).read_text()
    for _ in range(2):
        assert main(["results", "merge", str(theirs)]) == 0
        kept = result_file(checkout).read_text()
        assert kept == (path.read_text() if is_newer else before)
        assert (own / side.name).read_text() == lines + side.read_text()
    history = load_results(checkout)
    runs = {s.case.name: s.last for s in history.series}
    assert runs["suite.Suite.time_it('broken')"].outcome.value == "timed out"


@pytest.mark.fault("damaged files", tried="a file to merge or merged into, a line cut off")
def test_damaged_results_are_refused_and_nothing_is_written(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = other_machine(checkout, tmp_path / "theirs")
    result_file(theirs.parent, "n").write_text("{")
    assert main(["results", "merge", str(theirs)]) == 1
    assert "it is not JSON" in capsys.readouterr().err
    assert not (checkout / "results" / "n").exists()
    for source, message in (
        ("nowhere", "nor a branch"),
        (str(checkout / "benchmarks"), "no results"),
    ):
        assert main(["results", "merge", source]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("machine.json", "[]"),
        ("machine.json", '{"machine": "n", '),
        ("machine.json", None),
        ("machine.json/x", "a folder where a file belongs"),
        ("<result>", "[]"),
        ("<result>", "{}"),
        ("<result>", '{"version": 2'),
        ("", "a file where a folder belongs"),
    ],
)
def test_nothing_is_merged_into_damaged_results(
    checkout: Path,
    tmp_path: Path,
    name: str,
    content: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    edit(checkout / "asv.conf.json", machines=["m", "n"])
    theirs = other_machine(checkout, tmp_path / "theirs")
    edit(result_file(theirs.parent, "n"), duration=1.0)
    own = checkout / "results/n"
    if name:
        shutil.copytree(theirs / "n", own)
        edit(result_file(checkout, "n"), duration=2.0)
        edit(own / "machine.json", added="x")
        path = own / name.replace("<result>", result_file(checkout, "n").name)
        if content is None or "/" in name:
            (own / "machine.json").unlink()
        if "/" in name:
            path.parent.mkdir()
    else:
        path = own
    if content is not None:
        path.write_text(content)
    before = {p: p.read_bytes() for p in checkout.rglob("results/**/*") if p.is_file()}
    status = main(["results", "merge", str(theirs)])
    after = {p: p.read_bytes() for p in checkout.rglob("results/**/*") if p.is_file()}
    if content is None:
        assert status == 0
        assert path.is_file()
        return
    assert status == 1
    printed = capsys.readouterr().err
    assert str(own / "machine.json" if "/" in name else path) in printed
    assert printed.count("\n") == 1
    assert after == before


def test_a_line_that_was_cut_off_does_not_block_the_others(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = other_machine(checkout, tmp_path / "theirs")
    side = next((theirs / "n").glob("*.measured.jsonl"))
    lines = side.read_text()
    side.write_text(lines + '{"case": "suite.Sui')
    assert main(["results", "merge", str(theirs)]) == 0
    printed = capsys.readouterr().out
    number = len(lines.splitlines()) + 1
    assert f"left out, as damaged: line {number} of 'n/{side.name}'" in printed
    assert (checkout / "results/n" / side.name).read_text() == lines
    assert main(["results", "check"]) == 0


@pytest.mark.fault("hostile results", tried="a machine not listed, or with another's name")
def test_results_of_machines_that_may_not_be_here_are_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(checkout / "asv.conf.json", machines=["m", "n"])
    assert main(["results", "check"]) == 0
    theirs = other_machine(checkout, tmp_path / "theirs")
    record = next((theirs / "n").glob("*.environment.jsonl"))
    lines = record.read_text()
    facts = json.loads((theirs / "n/machine.json").read_text())

    def merge() -> str:
        capsys.readouterr()
        assert main(["results", "merge", str(theirs)]) == 1
        return capsys.readouterr().err

    record.write_text("")
    assert "no record says where it was measured" in merge()
    record.write_text(lines)
    edit(theirs / "n/machine.json", num_cpu="999")
    assert f"num_cpu is '{facts['num_cpu']}', but machine.json says otherwise" in merge()
    edit(theirs / "n/machine.json", num_cpu=facts["num_cpu"])
    shutil.copytree(theirs / "n", checkout / "results/n")
    edit(checkout / "results/n/machine.json", cpu="another")
    assert "describes another machine: cpu is" in merge()
    shutil.rmtree(checkout / "results/n")
    assert main(["results", "merge", str(theirs)]) == 0
    (theirs / "lab/comparisons").mkdir(parents=True)
    assert 'lab is not listed under "machines" of asv.conf.json' in merge()
    (theirs / "lab/comparisons").rmdir()
    (theirs / "lab").rmdir()
    edit(checkout / "asv.conf.json", machines=["m"])
    assert 'n is not listed under "machines" of asv.conf.json' in merge()


def test_a_table_has_a_row_for_each_measurement_with_the_stored_value(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["results", "export", "table.csv"]) == 0
    with (checkout / "table.csv").open(newline="") as stream:
        rows = {row["case_name"]: row for row in csv.DictReader(stream)}
    assert len(rows) == 4
    assert rows["suite.Suite.time_it('broken')"]["outcome"] == "failed"
    assert json.loads(rows["suite.Suite.time_it('a')"]["parameters"]) == {"kind": "a"}
    assert {row["tags"] for row in rows.values()} == {"v1"}
    for (_, case), value in values(checkout).items():
        assert rows[case]["value"] == ("" if value is None else str(value))
    capsys.readouterr()
    assert main(["results", "export", "table.xls"]) == 1
    assert "does not end in .csv" in capsys.readouterr().err
    assert main(["results", "export", "nowhere/table.csv"]) == 1
    assert "nowhere is not a folder; make it first" in capsys.readouterr().err
