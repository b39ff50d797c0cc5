"""Makes `asv publish` build this site instead of asv's pages.

It replaces ``Publish.run``. An ``OutputPublisher``, asv's own way to add a page, would not do: asv
deletes the published site before it reads its first input, and many inputs make it stop with a
traceback. See ``docs/site.md``.
"""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from asv.commands.publish import Publish
from asv.console import log
from asv.util import UserError

from asv_watch.asv.declared import read_declared
from asv_watch.asv.settings import Configuration, read_project
from asv_watch.errors import WatchError
from asv_watch.text.terminal import printable
from asv_watch.versions.git import ask_git


class Project(msgspec.Struct, frozen=True):
    """A project and its addresses, each of which may be empty."""

    name: str
    url: str
    commit_url: str
    """The front of a commit's address."""
    site: str
    """Where the site is served, with a slash at its end."""


class PublishRequest(msgspec.Struct, frozen=True):
    """What asv.conf.json and the command line say about a site to publish."""

    configuration: Configuration
    """All but its environments."""
    hashes: frozenset[str] | None
    """The commits to show; every commit of the branch if None."""
    project: Project


def setup(publish: Callable[[PublishRequest, Any], None]) -> None:
    """Replace what `asv publish` does; called when asv loads the plugin.

    ``publish`` is given the request and asv's log.
    """

    def run(_: Any, conf: Any, range_spec: str | None = None, pull: bool = True) -> None:
        try:
            root = Path.cwd()
            conf.declared = read_declared(conf, root)  # as `load_settings` does
            publish(read_request(conf, root, range_spec, fetch=pull), log)
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

    ``range_spec`` names the commits to show as git does; without it, all of the branch are shown.

    Raises:
        WatchError: an entry is damaged, or the range names no commit.
    """

    def address(text: str) -> str:
        return text if text.startswith(("https://", "http://")) else ""  # asv's "#" is none

    site_url = conf.declared.site_url
    project = Project(  # before `read_project`, which makes a path of the name
        str(conf.project),
        address(str(conf.project_url)),
        address(str(conf.show_commit_url)),
        f"{site_url.rstrip('/')}/" if site_url else "",
    )
    configuration = read_project(conf, root, fetch=fetch)
    results = configuration.results
    if results.is_relative_to(root):  # the page names files, but no folder of this machine
        configuration = replace(configuration, results=results.relative_to(root))
    hashes = None
    if range_spec is not None:
        span = shlex.split(range_spec)
        commits = ask_git(configuration.repository, "rev-list", "--first-parent", *span, "--")
        if not commits:
            raise WatchError(f"{range_spec!r} names no commit; give a range such as v0.1..main")
        hashes = frozenset(commits.split())
    return PublishRequest(configuration, hashes, project)
