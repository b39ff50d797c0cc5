"""Puts one machine's results on a branch of a results repository, for a pull request there."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.exchange.merging import Merged, merge_results
from asv_watch.exchange.sources import find_results
from asv_watch.records import suite_lists
from asv_watch.records.git import ask_git, run_git


def push_branch(results: Path, machine: str, repository: str, branch: str) -> Merged:
    """Merge a machine's results into a clone of a repository, and push that as a new branch.

    Args:
        results: folder of all machines' results.
        machine: name of the folder there that is submitted, with its list of benchmarks.
        repository: path or address of the results repository; results go where it has some
            already, or into its folder ``results``.
        branch: name of the new branch.

    Returns:
        What the branch changes; it is pushed only if that is something.

    Raises:
        WatchError: the machine has no results, one of its files is damaged, or the
            repository cannot be cloned or pushed to.
    """
    own = results / machine
    if not (own / "machine.json").is_file():
        raise WatchError(f"{own} holds no results; measure first, or give --machine")
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        source, clone = Path(folder) / "source", Path(folder) / "clone"
        shutil.copytree(own, source / machine)
        lists = (own / suite_lists.FILE_NAME, results / suite_lists.FILE_NAME)
        shutil.copy(next((path for path in lists if path.is_file()), lists[1]), source)
        ask_git(results, "clone", "--quiet", "--depth=1", "--", repository, str(clone))
        if not (clone / ".git").is_dir():
            raise WatchError(
                f"{repository} cannot be cloned; give the path or address of a git repository "
                "that you can read"
            )
        has_some = any(clone.rglob("machine.json"))
        target = find_results(clone, repository) if has_some else clone / "results"
        merged = merge_results(source, target)
        if merged.added or merged.extended:
            run_git(clone, "switch", "--quiet", "--create", branch)
            run_git(clone, "add", "--force", "--", str(target))
            run_git(clone, "commit", "--quiet", "--message", f"Add results of {machine}")
            _push(clone, repository, branch)
    return merged


def _push(clone: Path, repository: str, branch: str) -> None:
    try:
        run_git(clone, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    except WatchError as error:
        raise WatchError(
            f"{repository} does not take the branch {branch} ({error}); submit to a fork that "
            "you can push to"
        ) from error
