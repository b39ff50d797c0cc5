"""What is asked of git: the commits of a branch and of its merges; and the order of releases."""

from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import WatchError
from asv_watch.versions.git import (
    commits_changing,
    find_commit,
    read_ancestry,
    read_commits,
    working_tree_commit,
)
from asv_watch.versions.version import main_release, release_order
from tests.conftest import commit, git
from tests.generator import FIRST_COMMIT_AT, Plan, write_repository

Repository = tuple[Path, tuple[str, ...]]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository of four commits, of which the first and the third have tags."""
    folder = tmp_path / "repository"
    return folder, write_repository(folder, Plan(commits=4, tag_every=2))


def test_commits_are_oldest_first_with_date_subject_and_tags(repository: Repository) -> None:
    folder, hashes = repository
    commits = read_commits(folder)
    assert tuple(c.hash for c in commits) == hashes
    assert [c.position for c in commits] == [0, 1, 2, 3]
    assert commits[0].date == FIRST_COMMIT_AT
    assert commits[0].subject == "Fuse the gates of darnn"
    assert [c.tags for c in commits] == [("v0.0.0",), (), ("v0.1.0",), ()]


def test_a_persons_settings_and_a_hooks_variables_do_not_matter(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, hashes = repository
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "color.ui", "always")
    git(folder, "config", "log.decorate", "full")
    other = tmp_path / "other"
    write_repository(other, Plan(commits=1))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert tuple(c.hash for c in read_commits(folder)) == hashes


def test_a_detached_clone_has_the_branch_of_origin(repository: Repository, tmp_path: Path) -> None:
    folder, hashes = repository
    git(tmp_path, "clone", "--quiet", str(folder), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "--detach")
    git(tmp_path / "clone", "branch", "--quiet", "-D", "main")
    assert tuple(c.hash for c in read_commits(tmp_path / "clone")) == hashes


@pytest.mark.parametrize("name", ["other", "--all"])
def test_a_missing_branch(repository: Repository, name: str) -> None:
    folder, _ = repository
    with pytest.raises(WatchError, match=rf"^{folder} .*no branch '{name}'.*$"):
        read_commits(folder, name)


def test_a_shallow_clone(repository: Repository, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository[0]}", "shallow")
    remedy = r"git fetch --unshallow --tags`$"
    with pytest.raises(WatchError, match=rf"^{tmp_path / 'shallow'} .*{remedy}"):
        read_commits(tmp_path / "shallow")


def test_a_commit_has_one_name(repository: Repository) -> None:
    folder, hashes = repository
    assert find_commit(folder, "HEAD") == hashes[-1]
    assert find_commit(folder, hashes[0][:10]) == hashes[0]
    for name in ("^HEAD", "HEAD..main", "--all", "", "HEAD\n", "main --", "nothing"):
        assert find_commit(folder, name) == "", name


def test_a_working_tree_becomes_a_commit(make_repository: Callable[..., Path]) -> None:
    """It has what is not committed, but not what git ignores."""
    files = {"kept.py": "1", "changed.py": "1", "removed.py": "1", "results/a": "1"}
    root = make_repository(files | {".gitignore": "env/\n"})
    head = git(root, "rev-parse", "HEAD")
    left_out = [root / "results", Path("/elsewhere")]
    assert working_tree_commit(root, left_out) == head
    (root / "changed.py").write_text("2")
    (root / "removed.py").unlink()
    for name in ("new/a [*] file.py", "staged.py", "env/ignored.py", "results/b", "results/a"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("2")
    git(root, "add", "staged.py")
    git(root, "init", "--quiet", "another")
    (root / "another/file").write_text("of another repository")
    status = git(root, "status", "--porcelain")
    commit = working_tree_commit(root / "new", left_out)
    assert git(root, "status", "--porcelain") == status, "git's index is as it was"
    listed = git(root, "ls-tree", "-r", "--name-only", commit).splitlines()
    ours = {".gitignore", "changed.py", "kept.py", "new/a [*] file.py", "results/a", "staged.py"}
    assert set(listed) == ours
    assert git(root, "show", f"{commit}:changed.py") == "2"
    assert git(root, "show", f"{commit}:results/a") == "1"
    assert working_tree_commit(root, left_out) == commit, "so that an interrupt can be continued"


def test_a_bare_repository(make_repository: Callable[..., Path], tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    git(make_repository({"a.py": ""}), "clone", "--quiet", "--bare", ".", str(bare))
    with pytest.raises(WatchError, match=r"bare has no working tree, which \. means"):
        working_tree_commit(bare, [])


@pytest.mark.parametrize(
    ("requirements", "text"),
    [
        ({"numpy": "2.4.0", "scipy": "1.16"}, "numpy 2.4.0"),
        ({"numpy": "", "pip+torch": "2.15.0"}, "torch 2.15.0"),
        ({"numpy": ""}, ""),
        ({}, ""),
    ],
)
def test_the_first_pin_is_the_main_release(requirements: dict[str, str], text: str) -> None:
    release = main_release(requirements)
    assert (str(release), bool(release)) == (text, bool(text))


def test_releases_come_in_the_order_of_their_numbers() -> None:
    versions = ["2.15.0+cpu", "2.10.0", "2.9.0", "nightly", "2.10.0rc1"]
    in_order = ["nightly", "2.9.0", "2.10.0rc1", "2.10.0", "2.15.0+cpu"]
    assert sorted(versions, key=release_order) == in_order


@pytest.fixture
def merged(tmp_path: Path) -> Path:
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


def test_the_commits_inside_merges_are_listed_once(merged: Path) -> None:
    line = read_commits(merged)
    hashes = {commit.subject: commit.hash for commit in line}
    listed = read_ancestry(merged, line, line[0].hash, ("models", "no-such-folder"))
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


@pytest.mark.parametrize("paths", [("models/a.py",), ("models", "nowhere"), ()])
def test_suspects_are_the_commits_of_the_branch_that_change_the_paths(
    merged: Path, paths: tuple[str, ...]
) -> None:
    first, *others, last = read_commits(merged)
    suspects = commits_changing(merged, f"{first.hash}..main", paths)
    for measured in ((first, *others, last), (first, last)):
        ancestry = read_ancestry(merged, measured, first.hash, paths)
        assert ancestry.suspects(first.hash, last.hash) == suspects
    assert suspects
    later = commits_changing(merged, f"{others[0].hash}..main", paths)
    assert ancestry.suspects(others[0].hash, last.hash) == later
    earlier = read_ancestry(merged, (first, last), first.hash, ["models/b.py"])
    all_later = [commit.hash for commit in (*others[1:], last)]
    assert earlier.suspects(others[0].hash, last.hash) == all_later, "none changes the path"
