"""What lies between two commits of a branch, asked of a real repository."""

from pathlib import Path

import pytest

from asv_watch.versions.git import Ancestry, commits_changing, read_ancestry, read_commits
from tests.conftest import commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A branch with two merges, the second of which merged the first's branch again."""
    git(tmp_path, "init", "-q", "--initial-branch=main")
    commit(tmp_path, {"models/a.py": "Start"}, "Start")
    git(tmp_path, "checkout", "-q", "-b", "feature")
    commit(tmp_path, {"models/a.py": "Fuse the gates"}, "Fuse the gates")
    commit(tmp_path, {"docs/a.md": "Document it"}, "Document it")
    git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, {"models/b.py": "On main"}, "On main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge feature", "feature")
    git(tmp_path, "checkout", "-q", "feature")
    commit(tmp_path, {"models/a.py": "Fuse more\ttabbed"}, "Fuse more\ttabbed")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "Merge feature again", "feature")
    git(tmp_path, "tag", "elsewhere", "feature")
    return tmp_path


def ancestry(repository: Path, *paths: str) -> tuple[Ancestry, dict[str, str]]:
    line = read_commits(repository)
    hashes = {commit.subject: commit.hash for commit in line}
    return read_ancestry(repository, line, line[0].hash, paths), hashes


def test_the_commits_inside_merges_are_listed_once(repository: Path) -> None:
    listed, hashes = ancestry(repository, "models", "no-such-folder")
    whole = listed.between(hashes["Start"], hashes["Merge feature again"])
    assert [(commit.subject, commit.hash in listed.touching) for commit in whole] == [
        ("Merge feature again", False),
        ("Fuse more\ttabbed", True),
        ("Merge feature", False),
        ("Document it", False),
        ("Fuse the gates", True),
        ("On main", True),
    ]
    assert listed.paths == ("models",)
    part = listed.between(hashes["On main"], hashes["Merge feature"])
    subjects = [commit.subject for commit in part]
    assert subjects == ["Merge feature", "Document it", "Fuse the gates"]


def test_commits_that_may_have_changed_a_value_are_those_that_touch_the_paths_or_merged_one(
    repository: Path,
) -> None:
    def suspects(*paths: str) -> list[str]:
        listed, hashes = ancestry(repository, *paths)
        subjects = {hash_: subject for subject, hash_ in hashes.items()}
        ends = hashes["Start"], hashes["Merge feature again"]
        return [subjects[hash_] for hash_ in listed.suspects(*ends)]

    every = ["On main", "Merge feature", "Merge feature again"]
    assert suspects("models/a.py") == ["Merge feature", "Merge feature again"]
    assert suspects("models/b.py") == ["On main"]
    assert suspects() == suspects("no-such-folder") == every


def test_commits_that_were_not_measured_are_suspects_too(repository: Path) -> None:
    line = read_commits(repository)
    first, *others, last = line
    ancestry = read_ancestry(repository, (first, last), first.hash, ["models"])
    suspects = [commit.hash for commit in (*others, last)]
    assert ancestry.suspects(first.hash, last.hash) == suspects
    assert suspects == commits_changing(repository, f"{first.hash}..main", ["models"])
    assert ancestry.suspects(others[0].hash, last.hash) == suspects[1:]
