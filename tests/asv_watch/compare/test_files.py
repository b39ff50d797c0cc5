"""Result files from anywhere are compared without a project, and answers are JSON."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from asv_watch.cli.main import main
from tests.asv_watch.stored import result_content, timed
from tests.asv_watch.tables import rows_of


def _write(folder: Path, commit: str, factor: float, **changes: Any) -> str:
    rows = {
        "s.time_a": timed(0.001, 0.002 * factor, half=changes.pop("half", 0.01)),
        "s.track_words": [[5 * factor], [], "1"],
        f"s.time_{commit[:2]}": [[1.0], [], "1", [1.0], [1.0]],
    }
    path = folder / f"{commit}-existing-py3.11.json"
    path.write_text(json.dumps(result_content(commit * 5, rows, **changes)))
    return str(path)


def test_three_files_are_compared_with_the_first_and_their_environments_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # neither a project nor a repository
    files = [
        _write(tmp_path, "aaaa1111", 1.0),
        _write(tmp_path, "bbbb2222", 1.2, python="3.12"),
        _write(tmp_path, "cccc3333", 1.0),
    ]
    assert main(["compare", *files, "--json", "answer.json"]) == 0
    printed = capsys.readouterr().out
    rows = rows_of(printed)
    assert list(rows) == ["s.time_a(1)", "s.time_a(2)", "s.track_words"]
    assert rows["s.time_a(2)"][:5] == [
        *("2.00 ms", "2.40 ms", "about +20 %", "+17.6 to +22.4 %", "slower, suspected"),
    ]
    assert rows["s.time_a(2)"][-1] == "same"
    assert re.search(r"\| python +\| 3.11 +\| 3.12 +\| 3.11 +\|", printed)
    assert "bbbb2222 has 1 case that another file lacks" in printed
    answer = json.loads(Path("answer.json").read_text())
    assert (answer["schema"], answer["command"]) == (1, "compare")
    assert (answer["before"], answer["after"]) == ("aaaa1111", "cccc3333")
    assert {difference["verdict"] for difference in answer["differences"]} == {"same"}

    options = ["--only-changed", "--sort", "name", "--labels", "old,new", "--fail-if-slower"]
    assert main(["compare", *files[:2], *options]) == 4
    printed = capsys.readouterr().out
    assert list(rows_of(printed)) == ["s.time_a(2)", "s.track_words"]
    assert re.search(r"^\| case +\| old +\| new ", printed, re.MULTILINE)


def test_the_answer_of_two_files_says_that_it_is_a_suspicion(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [_write(tmp_path, "aaaa1111", 1.0), _write(tmp_path, "bbbb2222", 1.2)]
    assert main(["compare", *files, "--json", "-", "--cases", r"time_a\(2\)"]) == 0
    printed = capsys.readouterr()
    assert "| case" in printed.err
    [difference] = json.loads(printed.out)["differences"]
    assert difference["ratio"] == pytest.approx(1.2)
    assert (difference["verdict"], difference["measured"]) == ("slower", False)
    assert difference["worse"]


def test_the_case_that_changed_most_comes_first_also_if_it_is_faster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [_write(tmp_path, "aaaa1111", 1.0), _write(tmp_path, "bbbb2222", 0.1)]
    assert main(["compare", *files, "--cases", "time_a"]) == 0
    assert list(rows_of(capsys.readouterr().out)) == ["s.time_a(2)", "s.time_a(1)"]


@pytest.mark.parametrize("option", [["--sort", "name"], ["--labels", "a,b"], ["--only-changed"]])
def test_an_option_for_files_is_refused_without_files(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for others in ([], ["--stored"]):
        assert main(["compare", *others, *option]) == 2
        assert "need result files (.json)" in capsys.readouterr().err


def test_a_single_sample_is_too_noisy_to_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [_write(tmp_path, "aaaa1111", 1.0), _write(tmp_path, "bbbb2222", 1.5, half=math.inf)]
    assert main(["compare", *files, "--fail-if-slower", "--cases", "time_a"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert {cells[-1] for cells in rows.values()} == {"too noisy to tell"}


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (["a.json"], "one result file has nothing to be compared with"),
        (["a.json", "nosuch.json"], "nosuch.json cannot be compared"),
        (["a.json", "broken.json"], "broken.json cannot be compared: it is not JSON"),
        (["a.json", "a.json", "--labels", "x"], "1 labels are given for 2 files"),
        (["a.json", "a.json", "--cases", "nosuch"], "no case in common"),
    ],
)
def test_a_file_that_cannot_be_compared_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    files: list[str],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(_write(tmp_path, "aaaa1111", 1.0)).rename("a.json")
    Path("broken.json").write_text("{")
    assert main(["compare", *files]) == 1
    errors = capsys.readouterr().err
    assert named in errors
    assert errors.count("\n") == 1
