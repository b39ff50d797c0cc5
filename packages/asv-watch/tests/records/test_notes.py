"""``results/notes.toml``: remarks on changes, versions, and what is wrong in it."""

from pathlib import Path

import pytest

from asv_watch.records.notes import Notes, commit_of_version, expected_changes, read_notes
from asv_watch.records.records import Problem
from tests.making import commit_hash, make_commits


def read(folder: Path, text: str) -> tuple[Notes, list[Problem]]:
    (folder / "notes.toml").write_text(text, encoding="utf-8")
    return read_notes(folder, make_commits(10))


def test_the_last_note_about_a_change_counts(tmp_path: Path) -> None:
    notes, problems = read(
        tmp_path,
        f"""
        [[change]]
        commit = "{commit_hash(3)}"
        kind = "expected"
        text = "The batch was doubled"
        [[change]]
        commit = "{commit_hash(3)}"
        kind = "explained"
        text = "A kernel without vector instructions"
        cases = ["*resnet18*"]
        machine = "desk"
        """,
    )
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
        (
            '[[change]]\ncommit = "12345678"\nkind = "fine"\ntext = "x"',
            "Invalid enum value 'fine' - at `$.change[0].kind`",
        ),
        ('[[change]]\ncommit = "HEAD"\nkind = "expected"\ntext = "x"', "$.change[0].commit"),
        ('[[change]]\ncommit = "1234567"\nkind = "expected"\ntext = " "', "$.change[0].text"),
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


def test_a_note_about_a_commit_of_another_branch_is_named(tmp_path: Path) -> None:
    note = 'kind = "expected"\ntext = "x"'
    notes, problems = read(tmp_path, f'[[change]]\ncommit = "abcdef12"\n{note}')
    assert (notes.changes, notes.unplaced, problems) == ((), ("abcdef12",), [])
    # Too short to name one commit.
    notes, _ = read(tmp_path, f'[[change]]\ncommit = "0000000"\n{note}')
    assert notes.unplaced == ("0000000",)


def test_without_a_file_there_are_no_notes(tmp_path: Path) -> None:
    notes, problems = read_notes(tmp_path, make_commits(3))
    assert (notes.changes, notes.unplaced, problems) == ((), (), [])


def test_versions_name_commits_as_tags_do(tmp_path: Path) -> None:
    text = f'[versions]\n"v1.0" = "{commit_hash(3)}"\n"v9" = "abcdef12"\n'
    notes, problems = read(tmp_path, text)
    assert problems == []
    assert notes.versions == {"v1.0": 3}
    assert notes.unplaced == ("abcdef12",)
    assert commit_of_version(tmp_path, "v1.0") == commit_hash(3)
    assert commit_of_version(tmp_path, "main") == ""


def test_a_pull_request_accepts_the_changes_that_it_calls_expected() -> None:
    entry = '[[change]]\ncommit = "{}"\nkind = "{}"\ntext = "{}"\n'
    content = "".join(
        entry.format(hash_[:8], kind, f"{kind} {hash_[0]}")
        for hash_ in ("a" * 40, "b" * 40)
        for kind in ("expected", "explained", "false alarm")
    )
    [note] = expected_changes(content.encode(), ["b" * 40, "c" * 40])
    assert note.text == "expected b"
    assert expected_changes(b"", ["b" * 40]) == ()
