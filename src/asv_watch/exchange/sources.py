"""Finds results in a folder or a branch, and refuses what cannot be taken from others.

Folders and branches of results come from other people. A symbolic link in one could lead to a
private file, or out of the folder that is written to, so none is followed.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.records import notes, suite_lists
from asv_watch.records.comparisons import FOLDER
from asv_watch.records.git import export_files, find_commit, run_git


@contextmanager
def results_in(source: str, repository: Path) -> Iterator[Path]:
    """Yield the folder of results in a source, which is left as it is.

    A source is a folder (results, or what holds them), or a branch, tag or commit of a checkout.

    Raises:
        WatchError: There is no such source, or it holds none or several folders of results.
    """
    path = Path(source)
    if path.is_dir():
        yield find_results(path, source)
        return
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as temporary:
        folder = Path(temporary)
        _check_out(repository, source, folder)
        yield find_results(folder, source)


def _check_out(repository: Path, revision: str, folder: Path) -> None:
    """Put the files of a revision below the folder, without touching the checkout."""
    commit = find_commit(repository, revision)
    if not commit:
        raise WatchError(
            f"{revision!r} is neither a folder nor a branch of {repository}; "
            "`git branch -a` lists branches, `git fetch` brings those of others"
        )
    blobs = run_git(repository, "ls-tree", "-r", "-l", "-z", commit).split("\0")
    sizes = [blob.split(maxsplit=4)[3] for blob in blobs if blob]
    refuse_too_much(revision, len(sizes), sum(int(size) for size in sizes if size.isdigit()))
    export_files(repository, commit, folder)


def find_results(folder: Path, source: str) -> Path:
    """Return the folder at or below this one that holds folders of machines."""
    holders = {
        path.parent.parent
        for path in folder.rglob("machine.json")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    if not holders and (folder / suite_lists.FILE_NAME).is_file():
        return folder
    if len(holders) != 1:
        names = ", ".join(sorted(str(holder.relative_to(folder)) for holder in holders))
        content = f"holds several folders of results ({names})" if names else "holds no results"
        raise WatchError(
            f"{source} {content}: give the folder that has a machine's folder with machine.json"
        )
    return holders.pop()


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
    """Refuse a source that is too large to be results."""
    if files > MOST_FILES or size > MOST_BYTES:
        raise WatchError(
            f"{source} has {files:,} files or more, of {size:,} bytes or more; at most "
            f"{MOST_FILES:,} files and {MOST_BYTES:,} bytes are merged: give fewer at a time"
        )


def refuse_links(folder: Path, path: Path) -> None:
    """Refuse to write to a path below a folder, if a symbolic link lies on the way to it."""
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
