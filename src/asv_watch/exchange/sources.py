"""Finds the results in a folder or on a branch, and refuses what could do harm.

Folders and branches of results come from other people. A symbolic link in one could lead to a
private file, or out of the folder that is written to, so none is followed.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from asv_watch.errors import WatchError
from asv_watch.exchange.branches import list_files, write_files
from asv_watch.exchange.limits import Limits
from asv_watch.records import notes, suite_lists
from asv_watch.records.measurements import FOLDER
from asv_watch.versions.git import find_commit


@contextmanager
def results_in(source: str, repository: Path) -> Iterator[Path]:
    """Yield the folder of results in a source, which is left as it is.

    A source is a folder (of results, or with one in it), or a branch, tag or commit of a checkout.

    Raises:
        WatchError: There is no such source, it is too large or not safe to read, or it holds no
            folder of results or several.
    """
    path, limits = Path(source), Limits(source)
    if path.is_dir():
        files = [file.relative_to(path).as_posix() for file in _walk(path, limits)]
        yield path / find_results(map(PurePosixPath, files), source)
        return
    commit = find_commit(repository, source)
    if not commit:
        raise WatchError(
            f"{source!r} is neither a folder nor a branch of {repository}; "
            "`git branch -a` lists branches, `git fetch` brings those of others"
        )
    entries = list_files(repository, commit, source, limits)
    below = find_results((entry.path for entry in entries), source)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as temporary:
        folder = Path(temporary)
        write_files(repository, entries, below, folder, source, limits)
        yield folder


def find_results(files: Iterable[PurePosixPath], source: str) -> PurePosixPath:
    """Return the folder that holds the machines' folders.

    Args:
        files: Paths of all files below the source; hidden ones do not count.
        source: What messages call it.

    Raises:
        WatchError: There is none, or there are several.
    """
    visible = [path for path in files if not any(part.startswith(".") for part in path.parts)]
    holders = {
        path.parent.parent
        for path in visible
        if path.name == "machine.json" and len(path.parts) > 1
    }
    if not holders and PurePosixPath(suite_lists.FILE_NAME) in visible:
        return PurePosixPath()
    if len(holders) != 1:
        names = ", ".join(sorted(map(str, holders)))
        content = f"holds several folders of results ({names})" if names else "holds no results"
        raise WatchError(
            f"{source} {content}: give the folder that has a machine's folder with machine.json"
        )
    return holders.pop()


def list_results(folder: Path) -> tuple[list[Path], list[Path]]:
    """List the files below a folder of results, but not those of hidden folders such as ``.git``.

    Returns:
        Files of results, and other files, such as a README.

    Raises:
        WatchError: It holds a symbolic link, or more than can be merged.
    """
    results: list[Path] = []
    others: list[Path] = []
    for path in sorted(_walk(folder, Limits(str(folder)))):
        if path.is_symlink():
            raise WatchError(
                f"{path} is a symbolic link, which could lead anywhere; put a plain file or "
                "folder there, or remove it"
            )
        if path.is_file():
            (results if _is_result(path.relative_to(folder)) else others).append(path)
    return results, others


def refuse_blocked_path(folder: Path, path: Path) -> None:
    """Refuse a path below a folder, if a symbolic link or a file lies on the way to it."""
    for step in (path, *path.parents):
        if step == folder:
            return
        if step.is_symlink():
            raise WatchError(
                f"{step} is a symbolic link, so what is written there would go elsewhere; "
                "remove it"
            )
        if step != path and step.is_file():
            raise WatchError(f"{step} is a file where a folder is needed; remove it")


def _walk(folder: Path, limits: Limits) -> Iterator[Path]:
    """Yield everything below a folder that is not a folder itself, except hidden names.

    Raises:
        WatchError: There is too much.
    """
    waiting = [folder]
    while waiting:
        inner = waiting.pop()
        with os.scandir(inner) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                path = inner / entry.name
                status = entry.stat(follow_symlinks=False)
                is_file = stat.S_ISREG(status.st_mode)
                limits.count(path.relative_to(folder).as_posix(), status.st_size * is_file)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                else:
                    yield path


def _is_result(path: Path) -> bool:
    """Tell from its path below the results folder whether a file holds results."""
    match path.parts:
        case (name,):
            return name in {suite_lists.FILE_NAME, notes.FILE_NAME}
        case (_, _):
            return path.suffix in {".json", ".jsonl"}
        case (_, folder, _):
            return folder == FOLDER and path.suffix == ".jsonl"
    return False
