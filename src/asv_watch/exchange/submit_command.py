"""Submits this machine's results: to a results repository, or to a Codespeed server."""

from __future__ import annotations

import base64
import datetime
import json
import os
import re
import shutil
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from asv_watch.asv.settings import load_settings
from asv_watch.engine.workplace import load_results
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.exchange.merging import Merged, merge_results
from asv_watch.exchange.sources import find_results, list_results, refuse_blocked_path
from asv_watch.exchange.table import TableRow, measurements
from asv_watch.machine.facts import check_machine_name, default_name
from asv_watch.options import Machine
from asv_watch.publish import report_damage
from asv_watch.records import suite_lists
from asv_watch.text.quantities import timestamp
from asv_watch.versions.git import ask_git, run_git
from asv_watch.versions.releases import main_release

_LOGIN = "ASV_WATCH_CODESPEED_LOGIN"
"""Environment variable with the login for a server that asks for one: ``name:password``."""
_TIMEOUT_S = 60
_LONGEST_EXECUTABLE = 30
"""Characters of an executable's name in Codespeed."""


def _codespeed_results(
    rows: Iterable[TableRow], *, project: str, branch: str
) -> Iterator[dict[str, Any]]:
    """Yield the times of a history in the format of Codespeed.

    Codespeed's executable is the main requirement, or asv's name of the environment if none is
    pinned; its environment is the machine.
    """
    for measured in rows:
        if measured.value is None or measured.unit != "seconds":
            continue
        release = main_release(json.loads(measured.requirements))
        yield {
            "commitid": measured.commit_hash,
            "branch": branch,
            "project": project,
            "executable": (str(release) or measured.environment)[:_LONGEST_EXECUTABLE],
            "benchmark": measured.case_name,
            "environment": measured.machine,
            "result_value": measured.value,
            "revision_date": timestamp(measured.commit_date, "%Y-%m-%d %H:%M:%S"),
        }


def _send_to_codespeed(server: str, results: list[dict[str, Any]]) -> str:
    """Send results in one request, with the login of `_LOGIN`; return the answer."""
    address = f"{server.rstrip('/')}/result/add/json/"
    content = urllib.parse.urlencode({"json": json.dumps(results)}).encode()
    request = urllib.request.Request(address, content)  # noqa: S310 - http, see `_check_address`
    if login := os.environ.get(_LOGIN):
        encoded = base64.b64encode(login.encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {encoded}")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            return str(answer.read(1000).decode("utf-8", "replace")).strip()
    except urllib.error.HTTPError as error:
        reason = error.read(300).decode("utf-8", "replace").strip()
        remedy = "add an environment with the machine's name there before results are sent"
        if error.code in {401, 403}:
            remedy = f"give name:password of a user there in {_LOGIN}"
        raise WatchError(
            f"{address} refuses the results ({error.code}: {reason}); {remedy}"
        ) from error
    except (urllib.error.URLError, TimeoutError) as error:
        raise WatchError(f"{address} does not answer ({error}); check the address") from error


def _check_address(server: str) -> None:
    """Refuse a text that is no address of a server, before anything is read."""
    try:
        parts = urllib.parse.urlsplit(server)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is no number
        is_address = False
    if not is_address or not server.isprintable() or not server.isascii() or " " in server:
        raise WatchError(
            f"--codespeed {server[:200]!r} is not an http address; give one such as "
            "https://speed.example.org"
        )


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
        WatchError: A symbolic link lies among the results or in their place, or several folders
            hold results.
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
    ] = "",
    codespeed: Annotated[
        str, typer.Option(metavar="URL", help="Send this machine's times to a Codespeed server.")
    ] = "",
    machine: Machine = "",
) -> ExitStatus:
    """Submit this machine's results to a results repository, or to a Codespeed server."""
    if bool(to) == bool(codespeed):
        raise typer.BadParameter("give --to or --codespeed")
    root, name = Path.cwd(), machine or default_name()
    if to:
        return _submit_to_repository(root, to, name)
    return _submit_to_codespeed(root, codespeed, name)


def _submit_to_repository(root: Path, repository: str, name: str) -> ExitStatus:
    """Push a machine's results as a new branch, for a pull request."""
    check_machine_name(name)
    now = datetime.datetime.now(datetime.UTC)
    plain = re.sub(r"[^\w-]+", "-", name)
    branch = f"results-{plain}-{now:%Y%m%dT%H%M%S}"
    merged = _push_branch(Path(load_settings(root).results_dir), name, repository, branch)
    address = _without_login(repository)
    if not (merged.added or merged.extended):
        print(f"{address} has all results of {name} already")
        return ExitStatus.DONE
    print(f"{merged}\nbranch {branch} is in {address}; open a pull request from it")
    return ExitStatus.DONE


def _submit_to_codespeed(root: Path, server: str, name: str) -> ExitStatus:
    """Send a machine's newest times to Codespeed, and name damaged results."""
    _check_address(server)
    settings = load_settings(root)
    history = load_results(root)
    own = [measured for measured in measurements(history) if measured.machine == name]
    measured_at = {measured.commit_hash for measured in own if measured.value is not None}
    newest = [commit.hash for commit in history.commits if commit.hash in measured_at][-1:]
    own = [measured for measured in own if measured.commit_hash in newest]
    branch = str(settings.branches[0])
    results = list(_codespeed_results(own, project=str(settings.project), branch=branch))
    if not results:
        raise WatchError(f"no time of machine {name!r} is stored; measure, or give --machine")
    print(f"{len(results)} results: {_send_to_codespeed(server, results)}")
    return report_damage(history)
