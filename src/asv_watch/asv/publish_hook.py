"""Makes `asv publish` build this site instead of asv's pages.

It replaces ``Publish.run``. An ``OutputPublisher``, asv's own way to add a page, would not do: asv
deletes the published site before it reads its first input, and stops with a traceback at many of
them. See ``docs/site.md``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv.commands.publish import Publish
from asv.console import log
from asv.repo import get_repo
from asv.util import ProcessError, UserError

from asv_watch.asv.declared import Declared, read_declared
from asv_watch.asv.settings import default_branch
from asv_watch.errors import WatchError


@dataclass(frozen=True, slots=True)
class PublishRequest:
    """What asv.conf.json and the command line say about a site to publish."""

    results: Path
    site: Path
    repository: Path
    """Git directory, or checkout, of the project."""
    branch: str
    hashes: frozenset[str] | None
    """The commits to show; every commit of the branch if None."""
    declared: Declared
    environments: Path
    """Folder of asv's environments, which this machine has if it measures."""
    project: dict[str, str]
    """Name and addresses of the project, for the pages."""


def setup(publish: Callable[[PublishRequest, Any], int]) -> None:
    """Replace what `asv publish` does; asv calls this when it loads the plugin.

    Args:
        publish: builds the site; is given the request and asv's log, and returns the exit status.
    """

    def run(
        _: Any, conf: Any, range_spec: str | list[str] | None = None, pull: bool = True
    ) -> int:
        try:
            return publish(_read_request(conf, range_spec, pull), log)
        except WatchError as error:
            # asv prints a UserError as one line and exits with status 1.
            raise UserError(str(error)) from error
        except MemoryError as error:
            raise UserError("the memory is full; end other programs, or add some") from error

    Publish.run = classmethod(run)


def _read_request(conf: Any, range_spec: str | list[str] | None, pull: bool) -> PublishRequest:
    if shutil.which("git") is None:
        raise WatchError("git was not found: install git and put it on PATH")
    repo = get_repo(conf)
    if pull:
        repo.pull()
    declared = read_declared(conf, Path.cwd())
    return PublishRequest(
        results=Path(conf.results_dir),
        site=Path(conf.html_dir),
        repository=Path(repo._path),
        branch=conf.branches[0] or default_branch(repo, Path(repo._path)),
        hashes=None if range_spec is None else frozenset(_hashes_of(repo, range_spec)),
        declared=declared,
        environments=Path(conf.env_dir),
        project=_project(conf, declared.site_url),
    )


def _hashes_of(repo: Any, range_spec: str | list[str]) -> Sequence[str]:
    if isinstance(range_spec, list):
        return range_spec
    try:
        hashes: list[str] = repo.get_hashes_from_range(range_spec)
    except ProcessError as error:
        raise WatchError(
            f"git knows no range {range_spec!r}: give one such as v0.1..main"
        ) from error
    return hashes


def _project(conf: Any, site_url: str) -> dict[str, str]:
    """Return what the pages say of the project; asv's ``#`` means that there is no address."""

    def address(text: str) -> str:
        return text if text.startswith(("https://", "http://")) else ""

    site = address(site_url)
    return {
        "name": str(conf.project),
        "url": address(str(conf.project_url)),
        "commit_url": address(str(conf.show_commit_url)),
        "site": f"{site.rstrip('/')}/" if site else "",
    }
