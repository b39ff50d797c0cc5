"""``results/notes.toml``: remarks on changes, versions, and what is wrong in it."""

from pathlib import Path

import pytest

from asv_watch.records.notes import Notes, commit_of_version, expected_changes, read_notes
from asv_watch.records.records import Problem
from tests.making import commit_hash, make_commits

NOTE = '[[change]]\ncommit = "{}"\nkind = "{}"\ntext = "{}"\n'


def read(folder: Path, text: str) -> tuple[Notes, list[Problem]]:
    (folder / "notes.toml").write_text(text, encoding="utf-8")
    return read_notes(folder, make_commits(10))


def test_the_last_note_about_a_change_counts(tmp_path: Path) -> None:
    first = NOTE.format(commit_hash(3), "expected", "The batch was doubled")
    second = NOTE.format(commit_hash(3), "explained", "A kernel without vector instructions")
    only = 'cases = ["*resnet18*"]\nmachine = "desk"\n'
    notes, problems = read(tmp_path, first + second + only)
    assert problems == []
    for machine, case, after, until, kind in (
        ("desk", "time_x('resnet18')", 2, 3, "explained"),
        ("desk", "time_x('darnn')", 2, 3, "expected"),
        ("lab", "time_x('resnet18')", 0, 9, "expected"),
        ("lab", "time_x('resnet18')", 3, 9, None),
        ("lab", "time_x('resnet18')", 0, 2, None),
    ):
        note = notes.about(machine, case, after, until)
        assert (note.kind if note else None) == kind


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[change]", "line 1"),
        ('[[change]]\nkind = "expected"\ntext = "x"', "missing required field `commit`"),
        (NOTE.format("12345678", "fine", "x"), "$.change[0].kind"),
        (NOTE.format("HEAD", "expected", "x"), "$.change[0].commit"),
        (NOTE.format("1234567", "expected", " "), "$.change[0].text"),
        ('[[recipe]]\nrecipe = "rounds=3"', "unknown field `recipe`"),
        ('[[release]]\nrequirement = "numpy"', "missing required field `release`"),
    ],
)
def test_a_malformed_file_is_one_clear_problem(tmp_path: Path, text: str, message: str) -> None:
    notes, [problem] = read(tmp_path, text)
    assert problem.path == str(tmp_path / "notes.toml")
    assert message in problem.message
    assert "\n" not in problem.message
    assert notes.changes == ()


def test_versions_name_commits_as_tags_do(tmp_path: Path) -> None:
    text = f'[versions]\n"v1.0" = "{commit_hash(3)}"\n"v9" = "abcdef12"\n'
    notes, problems = read(tmp_path, text + NOTE.format("0000000", "expected", "x"))
    assert (notes.changes, problems) == ((), [])
    assert notes.versions == {"v1.0": 3}
    assert notes.unplaced == ("0000000", "abcdef12"), "too short for one commit, and of none"
    assert commit_of_version(tmp_path, "v1.0") == commit_hash(3)
    assert commit_of_version(tmp_path, "main") == ""


def test_a_pull_request_accepts_the_changes_that_it_calls_expected() -> None:
    content = "".join(
        NOTE.format(letter * 8, kind, f"{kind} {letter}")
        for letter in "ab"
        for kind in ("expected", "explained", "false alarm")
    )
    [note] = expected_changes(content.encode(), ["b" * 40, "c" * 40])
    assert note.text == "expected b"
    assert expected_changes(b"", ["b" * 40]) == ()
