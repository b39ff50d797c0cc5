"""`asv-watch report` as JSON, and since a commit."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asv_watch.cli.main import main
from asv_watch.comparison import Comparison, Sitting
from asv_watch.records.store import SittingWriter
from asv_watch.versions.version import Version
from tests.conftest import commit, run
from tests.making import make_rounds
from tests.stored import TIME_A, store_benchmarks, store_run
from tests.torchless import project_files

CASE = "s.time_a(1)"


@pytest.fixture
def hashes(make_repository: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Four commits, of which the second and the third are measured: the third is 10 % slower."""
    root = make_repository(project_files(""))
    made = [commit(root, {"x": text}, f"Write {text}") for text in ("2", "3", "4", "5")]
    monkeypatch.chdir(root)
    results = Path("results")
    store_benchmarks(results, TIME_A)
    for hash_, seconds in zip(made[1:3], (0.0100, 0.0110), strict=True):
        store_run(results, Comparison(CASE, 6, rounds=((seconds,),)), commit=hash_)
    versions = tuple(Version(hash_, {}, "3.11") for hash_ in made[1:3])
    sitting = Sitting(kind="compare", at=1, machine="m", versions=versions)
    rounds = tuple((0.01, 0.01 * ratio) for ratio in make_rounds(1.1, 0.004))
    SittingWriter(results, sitting).add(Comparison(CASE, 1, rounds=rounds))
    return made


def _report(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    assert main(["report", "--json", "-", *options]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["command"]) == (1, "report")
    differences: list[dict[str, Any]] = answer["differences"]
    return differences


def test_a_measured_change_as_json(hashes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    [change] = _report(capsys, "--state", "measured")
    assert (change["case"], change["verdict"], change["machine"]) == (CASE, "slower", "m")
    assert change["worse"]
    assert change["ratio"] == pytest.approx(1.1)
    assert change["commits"] == [hashes[2]]
    assert "expected" not in change
    note = f'[[change]]\ncommit = "{hashes[2]}"\nkind = "{{}}"\ntext = "twice the batch"\n'
    Path("results/notes.toml").write_text(note.format("explained"))
    assert "expected" not in _report(capsys)[0]
    Path("results/notes.toml").write_text(note.format("expected"))
    assert _report(capsys)[0]["expected"] == "expected: twice the batch"


def test_only_changes_since_a_revision_are_reported(
    hashes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(hashes) == 4
    for before in ("HEAD~3", "HEAD~2", hashes[1][:9]):  # the first one was never measured
        assert len(_report(capsys, "--since", before)) == 1
    for after in ("HEAD~1", "HEAD", "main", hashes[3]):
        assert _report(capsys, "--since", after) == []


def test_what_is_no_revision_is_named(
    hashes: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert hashes
    assert main(["report", "--since", "yesterday"]) == 1
    assert re.search(r"'yesterday' is neither a commit, tag or ", capsys.readouterr().err)


def test_a_report_is_printed_whatever_standard_output_can_encode(hashes: list[str]) -> None:
    note = f'[[change]]\ncommit = "{hashes[2]}"\nkind = "expected"\ntext = "größer 😀"\n'
    Path("results/notes.toml").write_text(note, encoding="utf-8")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "asv_watch.cli", "report", "--state", "measured"]
    assert r"expected: gr\xf6\xdfer \U0001f600" in run(*command, env=environment).stdout
    answer = json.loads(run(*command, "--json", "-", env=environment).stdout)
    assert answer["differences"][0]["expected"] == "expected: größer 😀"
