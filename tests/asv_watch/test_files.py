"""Files on a disk that is full: what was there stays, and nothing is there by half."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.files import append_durably, write_whole


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Let files grow to a size: the write that goes beyond it stores a part, then fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("before", ["", "one\n", "cut o"])
@pytest.mark.fault(
    "disk full", tried="a line is appended, and half of it fits", holds="the file is as before"
)
def test_no_half_of_a_line_is_appended(tmp_path: Path, before: str) -> None:
    path = tmp_path / "lines.jsonl"
    if before:
        path.write_text(before)
    with room_for(len(before) + 5), pytest.raises(OSError, match="File too large") as failed:
        append_durably(path, b"a long line\n")
    assert failed.value.filename == str(path)
    assert path.exists() == bool(before)
    if before:
        assert path.read_text() == before
    append_durably(path, b"two\n")
    end = "" if before.endswith("\n") or not before else "\n"
    assert path.read_text() == f"{before}{end}two\n"


class Disk:
    """What a folder would hold after a loss of power: what was synchronised, and nothing else."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._contents: dict[int, bytes] = {}
        """Inode to its content when it was last synchronised."""
        self.files: dict[str, bytes] = {}
        """Name to content, of the names that the folder had when it was last synchronised."""
        self.states: list[dict[str, bytes]] = []
        """`files` after each synchronisation, and if the renames so far were stored as well."""
        monkeypatch.setattr(os, "fsync", self._synchronise)

    def _synchronise(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        names = {path.name: path.stat().st_ino for path in self._folder.iterdir()}
        if stat.S_ISREG(found.st_mode):
            path = next(name for name, inode in names.items() if inode == found.st_ino)
            self._contents[found.st_ino] = (self._folder / path).read_bytes()
            if path in self.files:  # an older content of the same file
                self.files[path] = self._contents[found.st_ino]
        visible = {name: self._contents.get(inode, b"") for name, inode in names.items()}
        if stat.S_ISDIR(found.st_mode):
            self.files = visible
        self.states += [dict(self.files), visible]


@given(
    st.lists(
        st.tuples(st.sampled_from(["append", "replace"]), st.binary(min_size=1, max_size=20)),
        max_size=8,
    )
)
@pytest.mark.fault(
    "loss of power",
    tried="at any synchronisation of the disk while lines are appended and files replaced",
    holds="what was reported as stored is there; a file is the old or the new one",
)
def test_what_is_stored_survives_a_loss_of_power(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("disk")
    with pytest.MonkeyPatch.context() as monkeypatch:
        disk = Disk(folder, monkeypatch)
        reported = {"lines": b"", "file": b""}
        for kind, content in steps:
            before, disk.states = dict(reported), []
            if kind == "append":
                append_durably(folder / "lines", content + b"\n")
            else:
                write_whole(folder / "file", content)
            after = {
                name: path.read_bytes() for name in reported if (path := folder / name).exists()
            }
            for state in disk.states:
                for name, old in before.items():
                    assert state.get(name, b"") in {old, after.get(name, b"")}
            reported |= after
            assert {name: disk.files.get(name, b"") for name in reported} == reported


@pytest.mark.fault(
    "disk full", tried="a file is replaced, and half of it fits", holds="the old file stays"
)
def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"old")
    with room_for(5), pytest.raises(OSError, match="File too large"):
        write_whole(path, b"a longer content")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"file.json": b"old"}
