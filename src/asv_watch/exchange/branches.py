"""Reads the results on a branch of somebody else, whose objects git has fetched but not checked.

A tree of git may hold what no checkout has: an entry twice, as a link and as a folder, a name
such as ``..``, or ten levels of ten entries that are one and the same. So nothing is unpacked.
The tree is listed as a stream that ends early, and each file is written by itself.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from asv_watch.errors import WatchError
from asv_watch.exchange.limits import Limits
from asv_watch.machine.children import Child
from asv_watch.versions.git import variables_for_git

_KINDS = {"120000": "a symbolic link", "160000": "a submodule"}
"""Maps git's mode of an entry that is neither a file nor a folder to its description."""
_FOLDER = "040000"
_CHUNK = 1024**2
_LONGEST_ENTRY = 64 * 1024
"""Bytes of one line of a listing; file systems allow paths of 4,096."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, a link or a submodule of a commit."""

    path: PurePosixPath
    mode: str
    """git's mode, such as ``100644``."""
    blob: str
    """Hash of the content."""
    size: int
    """Bytes of the content."""


def list_files(repository: Path, commit: str, source: str, limits: Limits) -> list[Entry]:
    """List the files of a commit, which may be malicious.

    Args:
        repository: A checkout or a bare repository.
        commit: Its full hash.
        source: What messages call it.
        limits: What may be read.

    Raises:
        WatchError: The commit has too many files, two of one name, or a name that leads out of
            it, or git cannot read it.
    """
    entries: list[Entry] = []
    known: set[str] = set()
    arguments = ("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit)
    with _git(repository, source, limits, *arguments) as process:
        for line in _records(_output(process), source):
            facts, _, path = line.partition("\t")
            mode, _, blob, size = facts.split()
            bytes_of_file = int(size) if size.isdigit() else 0
            limits.count(path, bytes_of_file)
            if {"", ".", ".."} & set(path.split("/")):
                raise WatchError(
                    f"{source} has a file named {path!r}, which leads to another folder; it "
                    "cannot be merged"
                )
            if path in known:
                raise WatchError(f"{source} has two files named {path!r}; it cannot be merged")
            known.add(path)
            if mode != _FOLDER:
                entries.append(Entry(PurePosixPath(path), mode, blob, bytes_of_file))
    return entries


def write_files(
    repository: Path,
    entries: list[Entry],
    below: PurePosixPath,
    folder: Path,
    source: str,
    limits: Limits,
) -> None:
    """Write the files below a folder of a commit into an empty folder.

    Args:
        repository: A checkout or a bare repository.
        entries: What `list_files` listed.
        below: The commit's folder whose files are written; hidden files are left out.
        folder: Their destination.
        source: What messages call the commit.
        limits: What may be read; only the time matters, since `list_files` counted the rest.

    Raises:
        WatchError: One of them is a symbolic link or a submodule, or git cannot read it.
    """
    with _git(repository, source, limits, "cat-file", "--batch", stdin=subprocess.PIPE) as process:
        output, requests = _output(process), cast("IO[bytes]", process.stdin)
        for entry in entries:
            if not entry.path.is_relative_to(below):
                continue
            path = entry.path.relative_to(below)
            if any(part.startswith(".") for part in path.parts):
                continue
            if kind := _KINDS.get(entry.mode):
                raise WatchError(
                    f"{source} has {kind}, {str(entry.path)!r}, which could lead anywhere; it has "
                    "to be removed there first"
                )
            limits.check_time()
            os.write(requests.fileno(), f"{entry.blob}\n".encode())
            _copy_blob(output, folder / path, entry, source)
        requests.close()


def _copy_blob(output: IO[bytes], path: Path, entry: Entry, source: str) -> None:
    """Write what `git cat-file` answers for one file."""
    answer = output.readline(_LONGEST_ENTRY).split()
    if answer != [entry.blob.encode(), b"blob", str(entry.size).encode()]:
        raise WatchError(f"{source}: git cannot read {str(entry.path)!r}; fetch it again")
    path.parent.mkdir(parents=True, exist_ok=True)
    left = entry.size
    with path.open("xb") as stream:
        while left:
            chunk = output.read(min(left, _CHUNK))
            if not chunk:
                raise WatchError(f"{source}: git cannot read {str(entry.path)!r}; fetch it again")
            stream.write(chunk)
            left -= len(chunk)
    output.read(1)  # the line break after it


def _records(stream: IO[bytes], source: str) -> Iterator[str]:
    """Yield the records of a stream that end in a null character, as they come."""
    rest = b""
    while chunk := os.read(stream.fileno(), _CHUNK):
        *records, rest = (rest + chunk).split(b"\0")
        yield from map(os.fsdecode, records)
        if len(rest) > _LONGEST_ENTRY:
            raise WatchError(f"{source} has a path of more than {_LONGEST_ENTRY:,} bytes")


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", process.stdout)


@contextmanager
def _git(
    repository: Path, source: str, limits: Limits, *arguments: str, stdin: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """Run git while the body reads what it prints; it is killed when the time is over.

    Raises:
        WatchError: The time was over, or git failed.
    """
    with (
        tempfile.TemporaryFile() as complaints,
        Child(
            ["git", "-C", str(repository), *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=variables_for_git() | {"LC_ALL": "C"},
        ) as child,
    ):
        end = threading.Timer(max(0.0, limits.seconds_left), child.kill)
        end.daemon = True
        end.start()
        try:
            yield child.process
            status = child.process.wait()
        except BrokenPipeError:  # git ended before it had read every request
            status = child.process.wait()
        except WatchError:
            limits.check_time()  # killed at the end of the time, git gives half an answer
            raise
        finally:
            end.cancel()
            end.join()  # it may be ending processes
        limits.check_time()
        if status != 0:
            complaints.seek(0)
            reason = complaints.read(500).decode("utf-8", "replace").strip().partition("\n")[0]
            raise WatchError(f"{source}: git cannot read it ({reason}); fetch it again")
