"""asv's own options, which every command takes: the settings file, the environments, the Python.

The choice is kept in environment variables, which every reading of the settings obeys.
"""

import os
from pathlib import Path
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.options import CONFIG, ENVIRONMENT, ENVIRONMENT_NAME, PYTHON
from asv_watch.versions.git import ask_git

SETTINGS = ("asv.conf.json", "asv.conf.jsonc")
"""Names that asv gives its settings, in a folder that has one of them."""


def settings_file(root: Path) -> Path:
    """Return the file of asv's settings in a folder.

    Raises:
        WatchError: There is none, or there are two.
    """
    named = os.environ.get(CONFIG, "")
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


def apply_choices(conf: Any) -> None:
    """Put the choices of the command line into settings that asv has read.

    If a Python was chosen, ``include`` is ignored, as asv does it.
    """
    environment, python = os.environ.get(ENVIRONMENT, ""), os.environ.get(PYTHON, "")
    if environment and not ENVIRONMENT_NAME.fullmatch(environment):
        conf.environment_type = environment
    if python:
        conf.pythons, conf.include = [python], []


def chosen_name() -> str:
    """Return asv's name of the only environment that is chosen; empty if none is named."""
    environment = os.environ.get(ENVIRONMENT, "")
    return environment if ENVIRONMENT_NAME.fullmatch(environment) else ""
