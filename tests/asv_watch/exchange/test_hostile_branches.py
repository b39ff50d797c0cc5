"""Branches whose trees no checkout could have made: `results merge` writes nothing outside."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from asv_watch.cli.main import main
from asv_watch.errors import WatchError
from asv_watch.exchange import limits
from asv_watch.versions.git import export_files
from tests.asv_watch.exchange.test_results import checkout, measured, other_machine
from tests.conftest import git, run

__all__ = ["checkout", "measured"]  # fixtures
FILE, LINK, FOLDER, SUBMODULE = "100644", "120000", "40000", "160000"
Entry = tuple[str, str, str]
"""Mode, name and hash of an entry of a tree."""


def write_object(repository: Path, kind: str, content: bytes) -> str:
    """Store an object as it is, without the checks of git and its process; return its hash."""
    whole = f"{kind} {len(content)}\0".encode() + content
    name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = repository / ".git" / "objects" / name[:2] / name[2:]
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(whole))
    return name


def blob(repository: Path, content: str) -> str:
    return write_object(repository, "blob", content.encode())


def tree(repository: Path, entries: Sequence[Entry]) -> str:
    lines = (f"{mode} {name}\0".encode() + bytes.fromhex(item) for mode, name, item in entries)
    return write_object(repository, "tree", b"".join(lines))


def branch_of(repository: Path, entries: Sequence[Entry], message: str = "A trap") -> str:
    """A branch whose newest commit has a tree with these entries."""
    commit = git(repository, "commit-tree", tree(repository, entries), "-m", message)
    git(repository, "branch", "--force", "night", commit)
    return "night"


def sound_results(checkout: Path, folder: Path) -> list[Entry]:
    """A list of benchmarks and the folder of a machine with sound results, as entries."""
    theirs = other_machine(checkout, folder)
    git(checkout, "--work-tree", str(theirs), "add", "--force", "n", "benchmarks.json")
    written = git(checkout, "write-tree")
    git(checkout, "reset", "--quiet")
    names = {"benchmarks.json": FILE, "n": FOLDER}
    return [
        (mode, name, git(checkout, "rev-parse", f"{written}:{name}"))
        for name, mode in names.items()
    ]


def refuses(source: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Merge a source that has to be refused in one line; return the line."""
    capsys.readouterr()
    assert main(["results", "merge", source]) == 1
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    return printed


@pytest.fixture
def ladder(checkout: Path, tmp_path: Path) -> tuple[list[Entry], Path]:
    """Entries that lead out of any folder by links, and the folder that they lead to.

    After ``normpath`` the second link stays inside; followed, it leads up nine times more.
    """
    outside = tmp_path / "outside"
    outside.mkdir()
    up = blob(checkout, "/".join([".."] * 10))
    down = blob(checkout, "/".join(["q/.."] * 9) + f"/q/{outside.relative_to('/')}")
    inner = tree(checkout, [(FILE, "planted", blob(checkout, "an attacker's"))])
    return [(LINK, "q", up), (LINK, "r", down), (FOLDER, "r", inner)], outside


@pytest.mark.fault(
    "hostile results", tried="1,500 nested folders, names with .., attributes that multiply a file"
)
def test_nothing_is_written_through_an_entry_that_is_link_and_folder(
    checkout: Path,
    tmp_path: Path,
    ladder: tuple[list[Entry], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    entries, outside = ladder
    sound = sound_results(checkout, tmp_path / "theirs")
    branch = branch_of(checkout, [*sound, *entries])
    assert "two files named 'r'" in refuses(branch, capsys)
    assert not list(outside.iterdir())
    with contextlib.suppress(WatchError):
        export_files(checkout, git(checkout, "rev-parse", branch), tmp_path / "export", "r")
    assert not list(outside.iterdir())


def test_names_that_no_checkout_has_are_refused(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = sound_results(checkout, tmp_path / "theirs")
    text = blob(checkout, "{}")
    inner = tree(checkout, [(FILE, "x.json", text)])
    head = git(checkout, "rev-parse", "HEAD")
    for entries, message in (
        ([(SUBMODULE, "m", head)], "a submodule, 'm'"),
        ([(FOLDER, "..", inner)], "named '..'"),
        ([(FILE, "../../x.json", text)], "named '../../x.json'"),
        ([(FILE, "/tmp/x.json", text)], "named '/tmp/x.json'"),  # noqa: S108
        ([(FILE, "m", text), (FOLDER, "m", inner)], "two files named 'm'"),
        ([(FOLDER, "m", inner), (FILE, "m/x.json", text)], "two files named 'm/x.json'"),
    ):
        assert message in refuses(branch_of(checkout, [*sound, *entries]), capsys)
    assert not (checkout / "results/n").exists()


@pytest.mark.parametrize("leaf", ["file", "folder"])
def test_a_tree_that_repeats_itself_ends_early(
    checkout: Path, leaf: str, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = (FILE, blob(checkout, "{}")) if leaf == "file" else (FOLDER, tree(checkout, []))
    for _ in range(10):
        mode, item = entry
        entry = (FOLDER, tree(checkout, [(mode, str(digit), item) for digit in range(10)]))
    began = time.monotonic()
    assert "more than 200,000 files" in refuses(
        branch_of(checkout, [(entry[0], "m", entry[1])]), capsys
    )
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("kind", ["folder", "branch"])
def test_folders_that_lie_too_deep_are_refused(
    checkout: Path,
    tmp_path: Path,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    if kind == "branch":
        item = tree(checkout, [(FILE, "machine.json", blob(checkout, "{}"))])
        for _ in range(1500):
            item = tree(checkout, [(FOLDER, "a", item)])
        source = branch_of(checkout, [(FOLDER, "a", item)])
    else:
        source = str(tmp_path / "deep")
        os.mkdir(source)
        folder = os.open(source, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("a", dir_fd=folder)
            inner = os.open("a", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(folder)
    try:
        assert "more than 32 levels deep" in refuses(source, capsys)
    finally:
        run("rm", "-rf", tmp_path / "deep")  # pytest cannot remove it
    assert not list(temporary.iterdir())


def test_attributes_of_a_branch_change_no_file(
    checkout: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = sound_results(checkout, tmp_path / "theirs")
    marks = "$Format:%B$\n" * 1000
    entries = [
        (FILE, ".gitattributes", blob(checkout, "* export-subst\n*.json export-ignore\n")),
        (FILE, "README", blob(checkout, marks)),
        *sound,
    ]
    source = branch_of(checkout, entries, message="x" * 100_000)
    assert main(["results", "merge", source]) == 0
    assert "'README'" in capsys.readouterr().out
    assert (checkout / "results/n/machine.json").is_file()


@pytest.mark.parametrize("kind", ["folder", "branch"])
def test_reading_ends_when_the_time_is_over(
    checkout: Path,
    tmp_path: Path,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sound = sound_results(checkout, tmp_path / "theirs")
    source = str(tmp_path / "theirs/results")
    if kind == "branch":
        source = branch_of(checkout, sound)
    monkeypatch.setattr(limits, "LONGEST_S", 0.0)
    assert "could not be read within 0 s" in refuses(source, capsys)
    assert not (checkout / "results/n").exists()
