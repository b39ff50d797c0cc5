"""Submits this machine's results to a results repository."""

from __future__ import annotations

import datetime
import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from asv_watch.asv.settings import load_settings
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.exchange.merging import Merged, merge_results
from asv_watch.exchange.sources import find_results, list_results, refuse_blocked_path
from asv_watch.machine.facts import check_machine_name, default_name
from asv_watch.options import Machine
from asv_watch.records import suite_lists
from asv_watch.records.git import ask_git, run_git

_LINK = "120000"
"""git's mode of a symbolic link."""


def _push_branch(results: Path, machine: str, repository: str, branch: str) -> Merged:
    """Merge a machine's results into a clone of a repository, and push that as a new branch.

    Results go where the repository has some already, or into its folder ``results``.

    Returns: The changes of the branch; without any it is not pushed.
    """
    own, name = results / machine, _without_login(repository)
    if not (own / "machine.json").is_file():
        raise WatchError(f"{own} holds no results; measure first, or give --machine")
    refuse_blocked_path(results, own)
    list_results(own)
    identity = _identity(results)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        source, clone = Path(folder) / "source", Path(folder) / "clone"
        shutil.copytree(own, source / machine, symlinks=True)
        lists = (own / suite_lists.FILE_NAME, results / suite_lists.FILE_NAME)
        listed = next((path for path in lists if path.is_file()), lists[1])
        refuse_blocked_path(results, listed)
        shutil.copy(listed, source)
        _clone(repository, clone)
        target = _find_target(clone, name)
        merged = merge_results(source, target)
        if merged.added or merged.extended:
            run_git(clone, "switch", "--quiet", "--create", branch)
            run_git(clone, "add", "--force", "--", str(target))
            message = f"Add results of {machine}"
            run_git(clone, *identity, "commit", "--quiet", "--message", message)
            _push(clone, name, branch)
    return merged


def _without_login(address: str) -> str:
    """Return an address without its name and password, for messages."""
    return re.sub(r"(?<=://)[^/\s]*@", "", address)


def _identity(checkout: Path) -> tuple[str, ...]:
    """Return git's options for the person who commits, as the checkout knows them."""
    person = re.match(r"(.*) <(.*)> ", ask_git(checkout, "var", "GIT_AUTHOR_IDENT"))
    if person is None:
        raise WatchError(
            "git does not know who commits the results; run `git config --global user.name NAME` "
            "and `git config --global user.email ADDRESS`"
        )
    return "-c", f"user.name={person[1]}", "-c", f"user.email={person[2]}"


def _clone(repository: str, clone: Path) -> None:
    """Clone a repository; a symbolic link in it becomes a plain file, which leads nowhere.

    A relative path counts from the current folder, as for `git clone`.
    """
    options = ("--quiet", "--depth=1", "--config=core.symlinks=false")
    ask_git(Path.cwd(), "clone", *options, "--", repository, str(clone))
    if not (clone / ".git").is_dir():
        raise WatchError(
            f"{_without_login(repository)} cannot be cloned; give the path or address of a git "
            "repository that you can read"
        )


def _find_target(clone: Path, name: str) -> Path:
    """Return the folder of a clone to which results are added, by default ``results``.

    Raises:
        WatchError: There is a symbolic link among them or instead of them, or several folders hold
            results.
    """
    listing = run_git(clone, "ls-files", "--stage", "-z").split("\0")
    tracked = {
        PurePosixPath(path): mode
        for mode, _, path in (line.partition("\t") for line in listing if line)
    }
    has_some = any(path.name == "machine.json" for path in tracked)
    target = find_results(tracked, name) if has_some else PurePosixPath("results")
    for path, mode in tracked.items():
        if mode.startswith(_LINK) and path.is_relative_to(target):
            raise WatchError(
                f"{path} is a symbolic link in {name}; it has to be removed there before "
                "results are submitted"
            )
    return clone / target


def _push(clone: Path, repository: str, branch: str) -> None:
    try:
        run_git(clone, "push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")
    except WatchError as error:
        raise WatchError(
            f"{repository} does not take the branch {branch} ({_without_login(str(error))}); "
            "submit to a fork that you can push to"
        ) from error


def submit(
    *,
    to: Annotated[
        str,
        typer.Option(
            metavar="REPOSITORY",
            help="Push a branch with this machine's results there, for a pull request.",
        ),
    ],
    machine: Machine = "",
) -> ExitStatus:
    """Submit this machine's results to a results repository."""
    name = machine or default_name()
    check_machine_name(name)
    now = datetime.datetime.now(datetime.UTC)
    plain = re.sub(r"[^\w-]+", "-", name)
    branch = f"results-{plain}-{now:%Y%m%dT%H%M%S}"
    merged = _push_branch(Path(load_settings(Path.cwd()).results_dir), name, to, branch)
    address = _without_login(to)
    if not (merged.added or merged.extended):
        print(f"{address} has all results of {name} already")
        return ExitStatus.DONE
    print(f"{merged}\nbranch {branch} is in {address}; open a pull request from it")
    return ExitStatus.DONE
