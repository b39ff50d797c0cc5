"""Finds results in a folder or a branch."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.exchange.result_paths import refuse_too_much
from asv_watch.records import suite_lists
from asv_watch.records.git import export_files, find_commit, run_git


@contextmanager
def results_in(source: str, repository: Path) -> Iterator[Path]:
    """Open a source; it is left as it is.

    Args:
        source: A folder (results, or what holds them), or a branch, tag or commit of the
            repository.
        repository: Checkout whose branches are meant.

    Yields:
        The folder of results in it.

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
