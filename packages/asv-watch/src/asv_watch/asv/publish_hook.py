"""Makes `asv publish` build this site instead of asv's pages.

It replaces ``Publish.run``. An ``OutputPublisher``, asv's own way to add a page, would not do: asv
deletes the published site before it reads its first input, and many inputs make it stop with a
traceback. See ``docs/site.md``.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from asv.commands.publish import Publish
from asv.console import log
from asv.util import UserError

from asv_watch.asv.declared import Declared, read_declared
from asv_watch.asv.repository import find_repository, measured_paths, work_folder
from asv_watch.errors import WatchError
from asv_watch.text.terminal import printable
from asv_watch.versions.git import ask_git


class PublishRequest(msgspec.Struct, frozen=True):
    """What asv.conf.json and the command line say about a site to publish."""

    results: Path
    site: Path
    repository: Path
    branch: str
    hashes: frozenset[str] | None
    """The commits to show; every commit of the branch if None."""
    declared: Declared
    measured_paths: tuple[str, ...]
    """`asv_watch.asv.repository.measured_paths`."""
    work_folder: Path
    """`asv_watch.asv.repository.work_folder`."""
    project: dict[str, str]
    """Name and addresses of the project, for the pages."""


def setup(publish: Callable[[PublishRequest, Any], int]) -> None:
    """Replace what `asv publish` does; called when asv loads the plugin.

    Args:
        publish: builds the site; is given the request and asv's log, and returns the exit status.
    """

    def run(_: Any, conf: Any, range_spec: str | None = None, pull: bool = True) -> int:
        try:
            return publish(read_request(conf, Path.cwd(), range_spec, fetch=pull), log)
        except WatchError as error:
            # asv prints a UserError as one line and exits with status 1.
            raise UserError(printable(str(error))) from error
        except MemoryError as error:
            raise UserError("the memory is full; end other programs, or add memory") from error

    Publish.run = classmethod(run)


def read_request(
    conf: Any, root: Path, range_spec: str | None = None, *, fetch: bool = False
) -> PublishRequest:
    """Read what asv's settings say about the site of a project.

    Args:
        conf: asv's settings.
        root: the folder of asv.conf.json.
        range_spec: the commits to show, as git names them; every commit of the branch if None.
        fetch: update asv's clone of a repository elsewhere.

    Raises:
        WatchError: an entry is damaged, or the range names no commit.
    """
    conf.declared = read_declared(conf, root)

    def address(text: str) -> str:
        return text if text.startswith(("https://", "http://")) else ""  # asv's "#" is none

    site_url = conf.declared.site_url
    project = {  # before `find_repository`, which makes a path of the name
        "name": str(conf.project),
        "url": address(str(conf.project_url)),
        "commit_url": address(str(conf.show_commit_url)),
        "site": f"{site_url.rstrip('/')}/" if site_url else "",
    }
    repository, branch = find_repository(root, conf, fetch=fetch)
    hashes = None
    if range_spec is not None:
        commits = ask_git(repository, "rev-list", "--first-parent", *shlex.split(range_spec), "--")
        if not commits:
            raise WatchError(f"{range_spec!r} names no commit; give a range such as v0.1..main")
        hashes = frozenset(commits.split())
    return PublishRequest(
        results=Path(conf.results_dir),
        site=Path(conf.html_dir),
        repository=repository,
        branch=branch,
        hashes=hashes,
        declared=conf.declared,
        measured_paths=measured_paths(conf, root, repository),
        work_folder=work_folder(Path(conf.env_dir)),
        project=project,
    )
