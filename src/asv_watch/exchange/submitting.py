"""Puts one machine's results on a branch of a results repository, for a pull request there."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.exchange.merging import Merged, merge_results
from asv_watch.exchange.result_paths import list_results, refuse_links
from asv_watch.exchange.sources import find_results
from asv_watch.records import suite_lists
from asv_watch.records.git import ask_git, run_git

_LINK = "120000"
"""git's mode of a symbolic link."""


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
    own, name = results / machine, without_login(repository)
    if not (own / "machine.json").is_file():
        raise WatchError(f"{own} holds no results; measure first, or give --machine")
    refuse_links(results, own)
    list_results(own)
    identity = _identity(results)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        source, clone = Path(folder) / "source", Path(folder) / "clone"
        shutil.copytree(own, source / machine, symlinks=True)
        lists = (own / suite_lists.FILE_NAME, results / suite_lists.FILE_NAME)
        shutil.copy(next((path for path in lists if path.is_file()), lists[1]), source)
        _clone(results, repository, clone)
        has_some = any(clone.rglob("machine.json"))
        target = find_results(clone, name) if has_some else clone / "results"
        _refuse_tracked_links(clone, target, name)
        merged = merge_results(source, target)
        if merged.added or merged.extended:
            run_git(clone, "switch", "--quiet", "--create", branch)
            run_git(clone, "add", "--force", "--", str(target))
            message = f"Add results of {machine}"
            run_git(clone, *identity, "commit", "--quiet", "--message", message)
            _push(clone, name, branch)
    return merged


def without_login(address: str) -> str:
    """Return an address without the name and password that it may hold, for messages."""
    return re.sub(r"(?<=://)[^/\s]*@", "", address)


def _identity(checkout: Path) -> tuple[str, ...]:
    """Return git's options for the person who commits, as the checkout knows them.

    Raises:
        WatchError: git knows no name and address.
    """
    person = re.match(r"(.*) <(.*)> ", ask_git(checkout, "var", "GIT_AUTHOR_IDENT"))
    if person is None:
        raise WatchError(
            "git does not know who commits the results; run `git config --global user.name NAME` "
            "and `git config --global user.email ADDRESS`"
        )
    return "-c", f"user.name={person[1]}", "-c", f"user.email={person[2]}"


def _clone(checkout: Path, repository: str, clone: Path) -> None:
    """Clone a repository; a symbolic link in it becomes a plain file, which leads nowhere.

    Raises:
        WatchError: It cannot be cloned.
    """
    options = ("--quiet", "--depth=1", "--config=core.symlinks=false")
    ask_git(checkout, "clone", *options, "--", repository, str(clone))
    if not (clone / ".git").is_dir():
        raise WatchError(
            f"{without_login(repository)} cannot be cloned; give the path or address of a git "
            "repository that you can read"
        )


def _refuse_tracked_links(clone: Path, target: Path, name: str) -> None:
    """Refuse a repository with a symbolic link among its results, or in their place.

    Raises:
        WatchError: There is one.
    """
    for line in run_git(clone, "ls-files", "--stage", "-z").split("\0"):
        mode, _, tracked = line.partition("\t")
        path = clone / tracked
        if mode.startswith(_LINK) and (path.is_relative_to(target)):
            raise WatchError(
                f"{tracked} is a symbolic link in {name}; it has to be removed there before "
                "results are submitted"
            )


def _push(clone: Path, repository: str, branch: str) -> None:
    try:
        run_git(clone, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    except WatchError as error:
        raise WatchError(
            f"{repository} does not take the branch {branch} ({without_login(str(error))}); "
            "submit to a fork that you can push to"
        ) from error
