"""Makes `asv publish` build this site instead of asv's pages.

It replaces ``Publish.run``. An ``OutputPublisher``, asv's own way to add a page, would not do: asv
deletes the published site before it reads its first input, and many inputs make it stop with a
traceback. See ``docs/site.md``.
"""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asv.commands.publish import Publish
from asv.console import log
from asv.util import UserError

from asv_watch.asv.declared import read_declared
from asv_watch.asv.settings import Configuration, read_project
from asv_watch.errors import WatchError
from asv_watch.text.terminal import printable
from asv_watch.versions.git import ask_git


def setup(publish: Callable[[Configuration, frozenset[str] | None, Any], None]) -> None:
    """Replace what `asv publish` does; called when asv loads the plugin.

    ``publish`` is given what asv's settings say of a project, but for its environments; the hashes
    of the commits to show, or ``None`` for all of the branch; and asv's log.
    """

    def run(_: Any, conf: Any, range_spec: str | None = None, pull: bool = True) -> None:
        try:
            root = Path.cwd()
            conf.declared = read_declared(conf, root)  # as `load_settings` does
            configuration = read_project(conf, root, fetch=pull)
            shown = None
            if range_spec is not None:
                shown = _commits_in(configuration.repository, range_spec)
            publish(configuration, shown, log)
        except WatchError as error:
            # asv prints a UserError as one line and exits with status 1.
            raise UserError(printable(str(error))) from error
        except MemoryError as error:
            raise UserError("the memory is full; end other programs, or add memory") from error

    Publish.run = classmethod(run)


def _commits_in(repository: Path, span: str) -> frozenset[str]:
    """Return the hashes of the commits that a range names as git does: ``v0.1..main``."""
    commits = ask_git(repository, "rev-list", "--first-parent", *shlex.split(span), "--")
    if not commits:
        raise WatchError(f"{span!r} names no commit; give a range such as v0.1..main")
    return frozenset(commits.split())
