"""Which files of a folder are results, and which folders cannot be taken from others.

Folders and branches of results come from other people. A symbolic link in one could lead to a
private file, or out of the folder that is written to, so none is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.records import notes, suite_lists
from asv_watch.records.comparisons import FOLDER

MOST_FILES = 200_000
MOST_BYTES = 2 * 1024**3
"""Largest size of a source: all of it is held in memory, so that it is written whole or not."""


def list_results(folder: Path) -> tuple[list[Path], list[Path]]:
    """List the files below a folder of results, but not those of hidden folders such as ``.git``.

    Returns:
        Files of results, and other files, such as a README.

    Raises:
        WatchError: It holds a symbolic link, or more than can be merged.
    """
    results: list[Path] = []
    others: list[Path] = []
    size = 0
    for path in sorted(_walk(folder)):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise WatchError(
                f"{path} is a symbolic link, which could lead anywhere; put a plain file or "
                "folder there, or remove it"
            )
        if stat.S_ISREG(status.st_mode):
            (results if _is_result(path.relative_to(folder)) else others).append(path)
            size += status.st_size
            refuse_too_much(str(folder), len(results) + len(others), size)
    return results, others


def refuse_too_much(source: str, files: int, size: int) -> None:
    """Refuse a source that is too large to be results.

    Raises:
        WatchError: It has too many files or bytes.
    """
    if files > MOST_FILES or size > MOST_BYTES:
        raise WatchError(
            f"{source} has {files:,} files or more, of {size:,} bytes or more; at most "
            f"{MOST_FILES:,} files and {MOST_BYTES:,} bytes are merged: give fewer at a time"
        )


def refuse_links(folder: Path, path: Path) -> None:
    """Refuse to write to a path below a folder, if a symbolic link lies on the way to it.

    Raises:
        WatchError: One does.
    """
    for step in (path, *path.parents):
        if step == folder:
            return
        if step.is_symlink():
            raise WatchError(
                f"{step} is a symbolic link, so what is written there would go elsewhere; "
                "remove it"
            )


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if Path(root, name).is_symlink()]
        for name in (*links, *files):
            if not name.startswith("."):
                yield Path(root, name)


def _is_result(path: Path) -> bool:
    """Tell from its path below the folder of results whether a file is one that is read there."""
    match path.parts:
        case (name,):
            return name in {suite_lists.FILE_NAME, notes.FILE_NAME}
        case (_, _):
            return path.suffix in {".json", ".jsonl"}
        case (_, folder, _):
            return folder == FOLDER and path.suffix == ".jsonl"
    return False
