"""What is asked of git: the commits of a branch; and the order of releases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asv_watch.errors import WatchError
from asv_watch.versions.git import find_commit, read_commits, working_tree_commit
from asv_watch.versions.version import NO_RELEASE, Release, main_release, release_order
from tests.conftest import git
from tests.generator import FIRST_COMMIT_AT, Plan, write_repository


@pytest.fixture
def repository(tmp_path: Path) -> Any:
    folder = tmp_path / "repository"
    hashes = write_repository(folder, Plan(commits=4, tag_every=2))
    return folder, hashes


def test_commits_are_oldest_first_with_date_subject_tags_and_position(
    repository: tuple[Path, tuple[str, ...]],
) -> None:
    folder, hashes = repository
    commits = read_commits(folder)
    assert tuple(c.hash for c in commits) == hashes
    assert [c.position for c in commits] == [0, 1, 2, 3]
    assert commits[0].date == FIRST_COMMIT_AT
    assert commits[0].subject == "Fuse the gates of darnn"
    assert [c.tags for c in commits] == [("v0.0.0",), (), ("v0.1.0",), ()]


def test_a_persons_settings_and_a_hooks_variables_do_not_matter(
    repository: tuple[Path, tuple[str, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, hashes = repository
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "color.ui", "always")
    git(folder, "config", "log.decorate", "full")
    other = tmp_path / "other"
    write_repository(other, Plan(commits=1))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert tuple(c.hash for c in read_commits(folder)) == hashes


def test_a_detached_clone_without_a_local_branch_uses_that_of_origin(
    repository: tuple[Path, tuple[str, ...]], tmp_path: Path
) -> None:
    folder, hashes = repository
    git(tmp_path, "clone", "--quiet", str(folder), "clone")
    git(tmp_path / "clone", "checkout", "--quiet", "--detach")
    git(tmp_path / "clone", "branch", "--quiet", "-D", "main")
    assert tuple(c.hash for c in read_commits(tmp_path / "clone")) == hashes


def error_of(folder: Path, branch: str = "main") -> Any:
    with pytest.raises(WatchError) as error:
        read_commits(folder, branch)
    message = str(error.value)
    assert str(folder) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["other", "--all"])
def test_a_missing_branch(repository: tuple[Path, tuple[str, ...]], name: str) -> None:
    assert f"no branch '{name}'" in error_of(repository[0], name)


def test_a_shallow_clone(repository: tuple[Path, tuple[str, ...]], tmp_path: Path) -> None:
    folder, _ = repository
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{folder}", "shallow")
    assert "git fetch --unshallow --tags" in error_of(tmp_path / "shallow")


def test_a_commit_has_one_name(repository: tuple[Path, tuple[str, ...]]) -> None:
    folder, hashes = repository
    assert find_commit(folder, "HEAD") == hashes[-1]
    assert find_commit(folder, hashes[0][:10]) == hashes[0]
    for name in ("^HEAD", "HEAD..main", "--all", "", "HEAD\n", "main --", "nothing"):
        assert find_commit(folder, name) == "", name


def test_a_working_tree_is_a_commit_with_what_is_not_committed_and_not_ignored(
    make_repository: Callable[..., Path],
) -> None:
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


def test_a_repository_without_a_working_tree_has_none_to_measure(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    git(make_repository({"a.py": ""}), "clone", "--quiet", "--bare", ".", str(bare))
    with pytest.raises(WatchError, match=r"bare has no working tree, which \. means"):
        working_tree_commit(bare, [])


@pytest.mark.parametrize(
    ("requirements", "release", "text"),
    [
        ({"numpy": "2.4.0", "scipy": "1.16"}, Release("numpy", "2.4.0"), "numpy 2.4.0"),
        ({"numpy": "", "pip+torch": "2.15.0"}, Release("torch", "2.15.0"), "torch 2.15.0"),
        ({"numpy": ""}, NO_RELEASE, ""),
        ({}, NO_RELEASE, ""),
    ],
)
def test_the_main_release_is_the_first_that_is_pinned(
    requirements: dict[str, str], release: Release, text: str
) -> None:
    assert main_release(requirements) == release
    assert (str(release), bool(release)) == (text, bool(text))


def test_releases_come_in_the_order_of_their_numbers() -> None:
    versions = ["2.15.0+cpu", "2.10.0", "2.9.0", "nightly", "2.10.0rc1"]
    in_order = ["nightly", "2.9.0", "2.10.0rc1", "2.10.0", "2.15.0+cpu"]
    assert sorted(versions, key=release_order) == in_order
