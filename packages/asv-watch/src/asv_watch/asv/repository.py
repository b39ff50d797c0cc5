"""Where a project's repository is, by asv.conf.json, and whether it is installed."""

import os
import re
from pathlib import Path
from typing import Any

import asv.repo
import asv.util

from asv_watch.errors import WatchError
from asv_watch.versions.git import ask_git

_INSTALLS = re.compile(r"\{build_dir\}|\{wheel_file\}|\b(install|develop)\b")
"""A command that installs the project, whose checkout is its working folder."""


def find_repository(root: Path, conf: Any, *, fetch: bool = False) -> tuple[Path, str]:
    """Return the repository that is measured, and the branch that asv.conf.json tracks.

    If the repository is given by address, asv clones it once, into a folder beside asv.conf.json;
    ``fetch`` updates the clone.

    Raises:
        WatchError: it cannot be read or cloned.
    """
    top = ask_git(root, "rev-parse", "--show-toplevel")
    conf.project = str(root / conf.project)
    if os.path.isdir(root / conf.repo):
        conf.repo = str(root / conf.repo)
    try:
        repository = asv.repo.get_repo(conf)
    except (asv.util.UserError, asv.util.ProcessError, OSError) as error:
        raise WatchError(
            f'the repository {conf.repo!r} cannot be read ({error}); check "repo" of asv.conf.json'
        ) from error
    if fetch:
        try:
            repository.pull()
        except asv.util.ProcessError:
            print(f"{conf.repo} cannot be fetched now: its newest commits may be missing")
    path = Path(repository._path)
    own = bool(top) and path.resolve() == Path(top).resolve()
    branch: str | None = conf.branches[0]
    if branch:
        return (root if own else path), branch
    default: str = repository.get_branch_name()
    branches = ask_git(path, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    head = ask_git(path, "symbolic-ref", "--short", "HEAD")
    names = (default, "main", "master", head)
    return (root if own else path), next((name for name in names if name in branches), default)


def installs_project(conf: Any) -> bool:
    """Tell whether asv's commands build the project, or install its checkout."""
    return conf.build_command != [] or any(map(_INSTALLS.search, conf.install_command or ()))
