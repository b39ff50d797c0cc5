"""asv's own options, which every command takes: the settings file, the environments, the Python.

The choice is kept in environment variables, which every reading of the settings obeys.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.versions.git import ask_git

SETTINGS = ("asv.conf.json", "asv.conf.jsonc")
"""Names that asv gives its settings, in a folder that has one of them."""
_CONFIG, _ENVIRONMENT, _PYTHON = "ASV_WATCH_CONFIG", "ASV_WATCH_ENVIRONMENT", "ASV_WATCH_PYTHON"
_PYTHON_VERSION = re.compile(r"(pypy)?[0-9][0-9.]*t?")
_NAME = re.compile(r"[a-z]+-py\S+")
"""asv's name of an environment, such as ``virtualenv-py3.13-numpy``."""


def choose(config: str, environment: str, python: str) -> None:
    """Choose the settings that this process and those that it starts read.

    Args:
        config: A settings file, whose folder becomes the working folder, as asv does it.
        environment: A type of environments, a type and a Python (``virtualenv:3.13`` or
            ``existing:/env/bin/python``), or asv's name of one environment; what the settings say
            if empty.
        python: The version of a Python, ``same`` for the one that runs this, or the path of an
            interpreter, whose packages are measured as they are.

    Raises:
        WatchError: There is no such file, or the Python is not a version.
    """
    if config:
        path = Path(config).absolute()
        if not path.is_file():
            raise WatchError(
                f"--config {config!r} is not a file; give the path of an asv.conf.json"
            )
        os.environ[_CONFIG] = str(path)
        os.chdir(path.parent)
    if os.sep in python:
        environment, python = f"existing:{os.path.abspath(python)}", ""
    if not _NAME.fullmatch(environment) and not environment.startswith("existing:"):
        environment, _, named = environment.partition(":")
        python = python or named
    if python == "same":
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if python and not _PYTHON_VERSION.fullmatch(python):
        raise WatchError(
            f"{python!r} is not a version of Python; give one such as 3.13, same, or a path such "
            "as env/bin/python"
        )
    for name, text in ((_ENVIRONMENT, environment), (_PYTHON, python)):
        if text:
            os.environ[name] = text


def settings_file(root: Path) -> Path:
    """Return the file of asv's settings in a folder.

    Raises:
        WatchError: There is none, or there are two.
    """
    named = os.environ.get(_CONFIG, "")
    if named and Path(named).parent == root:
        return Path(named)
    files = [root / name for name in SETTINGS if os.path.lexists(root / name)]
    if len(files) > 1:
        raise WatchError(
            f"{root} has both {' and '.join(SETTINGS)}; remove one, or name one with --config"
        )
    if not files:
        raise WatchError(_elsewhere(root))
    return files[0]


def _elsewhere(root: Path) -> str:
    """Say where the repository has a settings file, as this folder has none."""
    top = Path(ask_git(root, "rev-parse", "--show-toplevel") or root)
    listed = ask_git(top, "ls-files", "--", *SETTINGS, *(f"*/{name}" for name in SETTINGS))
    files = listed.splitlines()
    if not files:
        return (
            f"there is no {SETTINGS[0]} in {root}; run this in the folder that has it, or make "
            "one with `asv quickstart`"
        )
    paths = [os.path.relpath(top / file, root) for file in files]
    folder = os.path.dirname(paths[0])
    others = f" (others are {', '.join(paths[1:])})" if paths[1:] else ""
    return (
        f"there is no {SETTINGS[0]} here; run `cd {folder}` first, which has "
        f"{os.path.basename(paths[0])}{others}, or give --config {paths[0]}"
    )


def apply(conf: Any) -> None:
    """Put the choices of the command line into settings that asv has read.

    If a Python was chosen, ``include`` is ignored, as asv does it.
    """
    environment, python = os.environ.get(_ENVIRONMENT, ""), os.environ.get(_PYTHON, "")
    if environment and not _NAME.fullmatch(environment):
        conf.environment_type = environment
    if python:
        conf.pythons, conf.include = [python], []


def chosen_name() -> str:
    """Return asv's name of the only environment that is chosen; empty if none is named."""
    environment = os.environ.get(_ENVIRONMENT, "")
    return environment if _NAME.fullmatch(environment) else ""
