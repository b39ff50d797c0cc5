"""A report says of each change what, since when, how much, how certain, which commit and why."""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from asv_watch.cli.main import main
from asv_watch.comparison import Comparison
from asv_watch.judge.changes import analyse
from asv_watch.records.history import History
from asv_watch.site.contents import contents_of
from asv_watch.site.report import Markup, write_report
from asv_watch.text import quantities
from asv_watch.versions.git import Ancestry
from tests.conftest import commit, run
from tests.judge.test_changes import comparison, history_of, noisy
from tests.making import MACHINE, commit_hash
from tests.planted_comparisons import compared_commits, store
from tests.stored import TIME_A, store_benchmarks, store_run
from tests.torchless import project_files

CASE = "suite.Suite.time_forward('darnn', 'cpu')"


@pytest.fixture
def history() -> History:
    """A case became 20 % slower two commits before the newest, as a comparison measured."""
    return history_of(noisy({}), comparison(37, 38, 1.2))


def _report(
    history: History, markup: Markup, ancestry: Ancestry | None = None, previous: int = 37
) -> str:
    """Describe the change, as that of the commits after ``previous``."""
    [change] = analyse(history).changes
    change = msgspec.structs.replace(change, previous=previous)
    return write_report(contents_of(history, analyse(history), ancestry), [change], markup)


def test_a_measured_change_is_described_as_markdown_and_as_text(history: History) -> None:
    [change] = analyse(history).changes
    title, _, *facts = _report(history, "markdown").splitlines()
    assert change.compared is not None
    size = f"+20.0 % ({quantities.interval(change.compared.interval)})"
    assert title == f"### `darnn · cpu · forward`: worse, {size}"
    described = dict(re.findall(r"^- \*\*([\w ]+)\*\*: (.*)$", "\n".join(facts), re.M))
    assert list(described) == ["What", "Since", "How certain", "Commit", "Cause", "Reproduce"]
    assert described["What"].startswith(f"`{CASE}` on `{MACHINE}`, `torch 2.15.0`: ")
    assert described["Since"].startswith(f"{commit_hash(38)[:8]} (`Commit 38`), 20")
    assert described["How certain"].startswith("the two commits were compared with each other")
    assert described["Commit"] == commit_hash(38)[:8]
    assert described["Cause"] == "`not profiled`"
    before, after = (commit_hash(number)[:12] for number in (37, 38))
    command = f"asv-watch compare --before {before} --after {after} --cases "
    pattern = "'suite.Suite.time_forward..darnn., .cpu..'"
    assert described["Reproduce"] == f"`{command}{pattern} --release 2.15.0`"

    text = _report(history, "text")
    assert text.splitlines()[0] == title.removeprefix("### ").replace("`", "")
    assert "**" not in text
    for name, fact in described.items():
        assert re.search(rf"^  {name}: +{re.escape(fact.replace('`', ''))}$", text, re.M)


def test_a_change_that_may_be_of_several_commits_says_how_to_list_them(history: History) -> None:
    def told(*touching: str) -> str:
        ancestry = Ancestry(history.commits, touching, ("src",)) if touching else None
        return _report(history, "text", ancestry, previous=30)

    listed = f"git log --oneline {commit_hash(30)[:8]}..{commit_hash(38)[:8]}\n"
    assert f"one of 8 (not bisected): {listed}" in told()
    assert f"one of 8 commits up to {commit_hash(38)[:8]}, not bisected, 20" in told()
    first, second = commit_hash(33), commit_hash(36)
    two = "Commit:      one of 2 that change what is measured, of 8 (not bisected): "
    assert f"{two}{listed}" in told(first, second)
    assert re.search(rf"Commit: +{first[:8]}\n", told(first))
    assert f"only {first[:8]} of 8 commits touches what is measured" in told(first)


def test_a_subject_is_code_in_a_report(history: History) -> None:
    subject = "@everyone ![](http://x/y.png) <img src=x> ``x`` <!-- # [a](b)"
    commits = [msgspec.structs.replace(commit, subject=subject) for commit in history.commits]
    for line in _report(replace(history, commits=tuple(commits)), "markdown").splitlines():
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        assert not re.search(r"@|<|!\[", outside), line


STORED = "s.time_a(1)"


@pytest.fixture
def hashes(make_repository: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Four commits, of which the second and the third are measured: the third is 10 % slower."""
    root = make_repository(project_files(""))
    made = [commit(root, {"x": text}, f"Write {text}") for text in ("2", "3", "4", "5")]
    monkeypatch.chdir(root)
    results = Path("results")
    store_benchmarks(results, TIME_A)
    before, after = made[1:3]
    for hash_, seconds in ((before, 0.0100), (after, 0.0110)):
        measured = Comparison(STORED, 6, rounds=((seconds,),))
        store_run(results, measured, commit=hash_, requirements={"torch": "2.15.0"})
    store(results, compared_commits((before, after), {STORED: 1.1}, at=1, machine="m"))
    return made


def _reported(capfd: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    assert main(["report", "--json", "-", *options]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert (answer["schema"], answer["command"]) == (1, "report")
    return list(answer["differences"])


def test_a_measured_change_as_json(hashes: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    [change] = _reported(capfd, "--state", "measured")
    assert (change["case"], change["verdict"], change["machine"]) == (STORED, "slower", "m")
    assert change["worse"]
    assert change["ratio"] == pytest.approx(1.1)
    assert change["commits"] == [hashes[2]]
    assert "expected" not in change
    note = f'[[change]]\ncommit = "{hashes[2]}"\nkind = "{{}}"\ntext = "twice the batch"\n'
    Path("results/notes.toml").write_text(note.format("explained"))
    assert "expected" not in _reported(capfd)[0]
    Path("results/notes.toml").write_text(note.format("expected"))
    assert _reported(capfd)[0]["expected"] == "expected: twice the batch"


def test_only_changes_since_a_revision_are_reported(
    hashes: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    for before in ("HEAD~3", "HEAD~2", hashes[1][:9]):  # the first one was never measured
        assert len(_reported(capfd, "--since", before)) == 1
    for after in ("HEAD~1", "HEAD", "main", hashes[3]):
        assert _reported(capfd, "--since", after) == []
    assert main(["report", "--since", "yesterday"]) == 1
    assert re.search(r"'yesterday' is neither a commit, tag or ", capfd.readouterr().err)


@pytest.mark.usefixtures("hashes")
def test_an_unknown_machine_or_folder_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(_reported(capfd, "--machine", "m")) == 1
    assert main(["report", "--machine", "typo"]) == 1
    message = r"machine .typo. has no results in \S+; give --machine m\n$"
    assert re.search(message, capfd.readouterr().err)
    assert main(["report", "--json", "missing/it.json"]) == 1
    assert "missing/it.json cannot be written; name a file" in capfd.readouterr().err


def test_a_report_is_printed_whatever_standard_output_can_encode(hashes: list[str]) -> None:
    note = f'[[change]]\ncommit = "{hashes[2]}"\nkind = "expected"\ntext = "größer 😀"\n'
    Path("results/notes.toml").write_text(note, encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "asv_watch.cli", "report", "--state", "measured"]
    assert r"expected: gr\xf6\xdfer \U0001f600" in run(*command, env=environment).stdout
    answer = json.loads(run(*command, "--json", "-", env=environment).stdout)
    assert answer["differences"][0]["expected"] == "expected: größer 😀"
