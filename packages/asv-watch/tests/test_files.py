"""Files on a disk that is full, and what is written to all that a person may name."""

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from asv_watch.errors import REMEDIES, WatchError
from asv_watch.files import append_durably, make_folder, read_regular, write_output, write_whole
from tests.conftest import ROOT


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


def test_a_file_that_would_fill_the_memory_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.truncate(2**26 + 1)
    with pytest.raises(OSError, match="67,108,865 bytes, of 67,108,864 that are read at most"):
        read_regular(path)


def test_a_pipe_is_no_file_of_lines(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="Illegal seek") as failed:
        append_durably(tmp_path / "pipe", b"a line\n")
    assert failed.value.errno in REMEDIES


@pytest.mark.parametrize("write", [append_durably, write_whole])
def test_what_is_stored_survives_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], None]
) -> None:
    synchronised: list[bytes | set[str]] = []

    def synchronise(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        names = {entry.name for entry in path.iterdir()} if path.is_dir() else path.read_bytes()
        synchronised.append(names)

    monkeypatch.setattr(os, "fsync", synchronise)
    path = tmp_path / "new" / "desk" / "lines"
    make_folder(path.parent)
    assert synchronised == [{"new"}, {"desk"}]
    for content in (b"one\n", b"two\n"):
        is_new = not path.exists()
        synchronised.clear()
        write(path, content)
        expected = [path.read_bytes(), *([{"lines"}] if is_new or write is write_whole else [])]
        assert synchronised == expected


def test_a_file_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, b"old")
    with room_for(5), pytest.raises(OSError, match="File too large"):
        write_whole(path, b"a longer content")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"file.json": b"old"}


def test_no_link_is_followed_when_a_file_is_replaced(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("mine")
    path = tmp_path / "results" / "machine.json"
    path.parent.mkdir()
    path.with_name(".machine.json.tmp").symlink_to(outside)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert outside.read_text() == "mine"
    assert [entry.name for entry in path.parent.iterdir()] == ["machine.json"]


def test_output_replaces_a_file_and_follows_links(tmp_path: Path) -> None:
    file, link, dangling = (tmp_path / name for name in ("file", "link", "dangling"))
    link.symlink_to(file)
    dangling.symlink_to(tmp_path / "new")
    for path, target in ((file, file), (link, file), (dangling, tmp_path / "new")):
        write_output(path, path.name.encode())
        assert target.read_text() == path.name
    assert link.is_symlink()
    assert dangling.is_symlink()


@pytest.mark.parametrize("name", ["", "missing/file", "file/below", "socket", "full"])
def test_output_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has at most 107 characters
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").symlink_to("/dev/full")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(
            WatchError, match=r"^/\S+ cannot be written \(.+\); name another file$"
        ):
            write_output(tmp_path / name, b"x")
    assert (tmp_path / "file").read_text() == "mine"


def test_output_to_a_standard_stream_keeps_what_was_printed(tmp_path: Path) -> None:
    code = (
        "import pathlib, asv_watch.files\n"
        "print('before')\n"
        "asv_watch.files.write_output(pathlib.Path('/dev/stdout'), b'answer\\n')\n"
        "print('after')\n"
    )
    command = [sys.executable, "-c", code]
    file = tmp_path / "file"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with file.open("wb") as stream:
        subprocess.run(command, stdout=stream, env=environment, check=True)
    piped = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert file.read_bytes() == piped.stdout == b"before\nanswer\nafter\n"
