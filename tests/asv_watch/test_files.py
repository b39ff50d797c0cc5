"""Files on a disk that is full: what was there stays, and nothing is there by half."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.files import append_durably, make_folder, write_whole


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

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._contents: dict[int, bytes] = {}
        """Inode of a file to its content when it was last synchronised."""
        self._names: dict[int, dict[str, int]] = {root.stat().st_ino: {}}
        """Inode of a folder to its names and their inodes when it was last synchronised."""
        self.states: list[dict[str, bytes]] = []
        """Files after each synchronisation, and if the renames so far were stored as well."""
        monkeypatch.setattr(os, "fsync", self._synchronise)

    def _synchronise(self, descriptor: int) -> None:
        inode, path = os.fstat(descriptor).st_ino, Path(f"/proc/self/fd/{descriptor}").resolve()
        if path.is_dir():
            self._names[inode] = self._names_in(path)
        else:
            self._contents[inode] = path.read_bytes()
        renamed = {
            entry.stat().st_ino: self._names_in(entry)
            for entry in (self._root, *self._root.rglob("*"))
            if entry.is_dir()
        }
        self.states += [self.files(self._names), self.files(renamed)]

    def files(self, names: Mapping[int, Mapping[str, int]] | None = None) -> dict[str, bytes]:
        """Path to content; by default of the names that were synchronised."""
        names = self._names if names is None else names

        def below(folder: int, prefix: str) -> Iterator[tuple[str, bytes]]:
            for name, inode in names.get(folder, {}).items():
                if inode in self._folders:
                    yield from below(inode, f"{prefix}{name}/")
                else:
                    yield prefix + name, self._contents.get(inode, b"")

        return dict(below(self._root.stat().st_ino, ""))

    @property
    def _folders(self) -> set[int]:
        return {entry.stat().st_ino for entry in self._root.rglob("*") if entry.is_dir()}

    @staticmethod
    def _names_in(folder: Path) -> dict[str, int]:
        return {entry.name: entry.stat().st_ino for entry in folder.iterdir()}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["new/desk/lines", "file", "new/file"]),
            st.sampled_from([append_durably, write_whole]),
            st.binary(min_size=1, max_size=20),
        ),
        max_size=8,
    )
)
@pytest.mark.fault(
    "loss of power",
    tried="at any synchronisation of the disk while lines are appended and files replaced, also "
    "in new folders",
    holds="what was reported as stored is there; a file is the old or the new one",
)
def test_what_is_stored_survives_a_loss_of_power(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, Callable[[Path, bytes], None], bytes]],
) -> None:
    folder = tmp_path_factory.mktemp("disk")
    with pytest.MonkeyPatch.context() as monkeypatch:
        disk = Disk(folder, monkeypatch)
        reported: dict[str, bytes] = {}
        for name, write, content in steps:
            before, disk.states = reported.get(name, b""), []
            make_folder((folder / name).parent)
            write(folder / name, content + b"\n")
            after = (folder / name).read_bytes()
            for state in disk.states:
                assert state.get(name, b"") in {before, after}
                assert {other: state.get(other) for other in reported if other != name} == {
                    other: stored for other, stored in reported.items() if other != name
                }
            reported[name] = after
            assert {name: disk.files().get(name) for name in reported} == reported


@pytest.mark.fault(
    "disk full", tried="a file is replaced, and half of it fits", holds="the old file stays"
)
def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"old")
    with room_for(5), pytest.raises(OSError, match="File too large"):
        write_whole(path, b"a longer content")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"file.json": b"old"}
