"""`asv-watch results check` names each fault, and git merges the results of several machines."""

import json
import re
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from asv_watch.cli.main import main
from asv_watch.comparison import Outcome
from asv_watch.records.asv_files import parse_list
from asv_watch.records.history import load_history
from asv_watch.text.terminal import printable
from asv_watch.versions.git import read_commits
from tests import torchless
from tests.conftest import REPOSITORY, commit, git, run
from tests.interruptible import run_driver
from tests.planted_comparisons import compared_commits, store
from tests.stored import record_file, result_file

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
BROKEN = "suite.Suite.time_it('broken')"


@pytest.fixture(scope="module")
def measured(made_environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the results of one commit."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("checkout")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, torchless.project_files(SUITE, {".gitignore": ""}), "Begin")
    torchless.give_environment(folder, made_environment)
    run_driver("bench", folder, home, status=3)
    return folder


@pytest.fixture
def checkout(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it without its environment, in which commands run."""
    folder = tmp_path / "checkout"
    shutil.copytree(measured, folder, ignore=shutil.ignore_patterns(".asv"))
    monkeypatch.chdir(folder)
    return folder


def edit(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_each_fault_is_named(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = checkout / "results/lab/comparisons"  # a machine that only compared commits
    compared.mkdir(parents=True)
    (checkout / "results/m/releases.jsonl").write_text("[]\n")  # earlier versions wrote it
    assert main(["results", "check"]) == 0
    assert capsys.readouterr().out.startswith("no faults")
    path = result_file(checkout)
    content = json.loads(path.read_text())
    column = content["result_columns"].index("result")
    content["results"]["suite.Suite.time_it"][column] = [1.0, "fast", None]
    content["results"]["suite.track_words"] = [[1.0, 2.0], [["x"]]]
    content["commit_hash"] = "f" * 40
    path.write_text(json.dumps(content))
    record = record_file(checkout)
    lines = [re.sub("(_it.'a'.*)seconds", r"\1words", each) for each in record.open()]
    record.write_text("".join([*lines, "{\n"]))
    (checkout / "results/m/0a-x.json").write_text("{")
    (checkout / "results/lab/machine.json").write_text('{"machine": "other", "version": 1}')
    assert main(["results", "check", "results"]) == 1
    printed = capsys.readouterr().out
    for fault in (
        "suite.Suite.time_it: 1 of 3 results are not finite numbers",
        "suite.track_words: result must have one entry for each of the 1 cases",
        f"commit_hash is '{'f' * 40}', not the full hash of its name",
        "lab/machine.json: it names the machine 'other'",
        "is not a valid case",
        "some were changed or removed",
        "the record has suite.Suite.time_it('a') in 'words', its suite in 'seconds'",
        "0a-x.json: asv cannot read it: Error parsing JSON in file it: Expecting property name",
    ):
        assert fault in printed, (fault, printed)
    assert printed.splitlines()[-1] == "8 faults in results"
    assert main(["results", "check", "nowhere"]) == 1
    assert "nowhere is not a folder: give asv's results folder" in capsys.readouterr().err


def test_machines_that_may_not_be_here(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(checkout / "asv.conf.json", machines=["m", "n"])
    assert main(["results", "check"]) == 0
    shutil.copytree(checkout / "results/m", checkout / "results/other")
    facts = checkout / "results/m/machine.json"
    cores = json.loads(facts.read_text())["num_cpu"]
    edit(facts, num_cpu="999")
    (checkout / "results/m/0a-x.json").write_text("{")
    capsys.readouterr()
    assert main(["results", "check"]) == 1
    printed = capsys.readouterr().out
    assert 'other is not listed under "machines" of asv.conf.json' in printed
    assert f"num_cpu is '{cores}', but machine.json says otherwise" in printed
    (checkout / "results/m/0a-x.json").unlink()
    shutil.rmtree(checkout / "results/other")
    record = record_file(checkout)
    record.write_text(record.read_text().replace('"machine":{"os"', '"none":{"os"'))
    assert main(["results", "check"]) == 1
    missing = f"{result_file(checkout).name}: no record says where it was measured"
    assert missing in capsys.readouterr().out


def test_invisible_text_is_written_out(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printable("\x1b[2Jgone\0\u202e\ud800") == r"\x1b[2Jgone\x00\u202e\ud800"
    assert printable("é 漢\tα\n−1.5 %\u202f") == "é 漢\tα\n−1.5 %\u202f"
    (checkout / "results/m/0a-\x1b[2J.json").write_text("{")
    assert main(["results", "check"]) == 1
    edit(checkout / "asv.conf.json", repo="\x1b[2J")
    assert main(["releases"]) == 1
    printed = capsys.readouterr()
    assert r"0a-\x1b[2J.json" in printed.out
    assert r"\x1b[2J" in printed.err
    assert printed.out + printed.err == printable(printed.out + printed.err)


def test_git_merges_the_results_of_two_machines_and_of_two_clones_of_one(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = (checkout / "results").rename(tmp_path / "measured")
    shutil.copy(REPOSITORY / ".gitattributes", checkout)
    commit(checkout, {".gitignore": "/results/benchmarks.json\n"}, "Begin to share results")
    git(tmp_path, "clone", "--quiet", "--bare", str(checkout), "shared.git")
    pull = ("pull", "--quiet", "--no-rebase", "--no-edit")
    clones = [tmp_path / name for name in ("first", "second", "other")]
    for clone in clones:
        git(tmp_path, "clone", "--quiet", "shared.git", clone.name)
    for clone in clones:
        shutil.copytree(measured, clone / "results")
        with record_file(clone).open("a") as record:
            late = {"at": 4_000_000_000, "late": [0], "failed": {"0": f"in {clone.name}"}}
            first = (measured / "m" / record_file(clone).name).read_text().splitlines()[0]
            record.write(f"{first}\n{json.dumps({'case': BROKEN} | late)}\n")
        if clone.name == "second":  # on the same machine, with more memory, it measured again
            facts = clone / "results/m/machine.json"
            facts.write_text(re.sub('"ram": .*,', '"ram": "1 TB",', facts.read_text()))
            edit(result_file(clone), env_vars={"WHO": "second"})
            listed = clone / "results/m/benchmarks.json"
            listed.write_text(re.sub('"suite.track_words": .*\n', "", listed.read_text()))
        elif clone.name == "other":
            for file in (clone / "results/m").rename(clone / "results/n").iterdir():
                text = re.sub('("machine": ?)"m"', r'\1"n"', file.read_text())
                # Its checksum is of another machine's lines, so the sitting ends without one.
                file.write_text(re.sub('^{"end".*\n', "", text, flags=re.MULTILINE))
        commit(clone, {}, f"Add the results of {clone.name}")
        if clone.name == "second":
            with pytest.raises(AssertionError, match=r"CONFLICT .* results/m/\w+-[\w.-]+\.json\n"):
                git(clone, *pull)
            git(clone, "checkout", "--quiet", "--ours", "results")
            commit(clone, {}, "Keep asv's file of the second")
        else:
            git(clone, *pull)
        git(clone, "push", "--quiet")
    monkeypatch.chdir(clones[-1])
    assert main(["results", "check"]) == 0
    history = load_history(Path("results"), read_commits(Path()))
    cases = {(series.machine, series.case.name): series.last.outcome for series in history.series}
    names = ["suite.track_words", BROKEN, *(f"suite.Suite.time_it({kind!r})" for kind in "ab")]
    assert cases.keys() == set(product("mn", names))
    assert [cases[machine, BROKEN] for machine in "mn"] == [Outcome.TIMED_OUT] * 2
    listed = Path("results/m/benchmarks.json")
    assert parse_list(listed.read_bytes()).keys() == {"suite.Suite.time_it", "suite.track_words"}
    merged = record_file(Path()).read_text()
    assert [merged.count(f"in {clone.name}") for clone in clones] == [1, 1, 0]


def test_lost_commits_are_named(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "Say it otherwise")
    head, lost = git(checkout, "rev-parse", "HEAD~1", "HEAD").split()
    git(checkout, "reset", "--quiet", "--soft", "HEAD~1")
    run_at = json.loads(record_file(checkout).read_text().splitlines()[0])["sitting"]["at"]
    ratios = {"suite.Suite.time_it('a')": 1.2}
    compared = compared_commits((head, lost), ratios, at=run_at, machine="m")
    store(checkout / "results", compared)
    assert main(["results", "check"]) == 1
    [fault, _] = capsys.readouterr().out.splitlines()
    assert f"contains the compared commit {lost}" in fault
    assert main(["report"]) == 0
    assert "that are not on main (1);" in capsys.readouterr().err
    [remedy] = re.findall("`(awk .+)`", fault)
    run("sh", "-c", remedy, cwd=checkout)
    assert main(["results", "check"]) == 0
    assert BROKEN in record_file(checkout).read_text(), "the run is kept"
