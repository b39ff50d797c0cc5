"""Files on a disk that is full: what was there stays, and nothing is there by half."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import torchspeed.files
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


@pytest.mark.parametrize("append", [append_durably, torchspeed.files.append_durably])
@pytest.mark.parametrize("before", ["", "one\n", "cut o"])
@pytest.mark.fault(
    "disk full", tried="a line is appended, and half of it fits", holds="the file is as before"
)
def test_no_half_of_a_line_is_appended(
    tmp_path: Path, append: Callable[[Path, bytes], None], before: str
) -> None:
    path = tmp_path / "lines.jsonl"
    if before:
        path.write_text(before)
    with room_for(len(before) + 5), pytest.raises(OSError, match="File too large") as failed:
        append(path, b"a long line\n")
    assert failed.value.filename == str(path)
    assert path.exists() == bool(before)
    if before:
        assert path.read_text() == before
    append(path, b"two\n")
    end = "" if before.endswith("\n") or not before else "\n"
    assert path.read_text() == f"{before}{end}two\n"


@pytest.mark.fault(
    "disk full", tried="a file is replaced, and half of it fits", holds="the old file stays"
)
def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"old")
    with room_for(5), pytest.raises(OSError, match="File too large"):
        write_whole(path, b"a longer content")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"file.json": b"old"}
