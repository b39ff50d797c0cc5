"""Finds and reads asv.conf.json, and adds what it leaves open.

That is what the command line chose, a type of environments that can be made here, and how to
build a project that says nothing about it.
"""

import functools
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import asv
import asv.config
import asv.environment
import asv.util
import msgspec

from asv_watch.asv import CONFIG, ENVIRONMENT, ENVIRONMENT_NAME, PYTHON
from asv_watch.asv.declared import read_declared
from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.versions.git import ask_git

SETTINGS = ("asv.conf.json", "asv.conf.jsonc")
"""Names that asv gives its settings, in a folder that has one of them."""
BUILD = ["python -m pip wheel --no-deps -w {build_cache_dir} {build_dir}"]
"""asv 0.6.6's own command makes wheels of the dependencies too, and then asv cannot choose one."""
INSTALL = [
    "in-dir={env_dir} python -m pip install {wheel_file}",
    "in-dir={env_dir} python -m pip install --no-deps --force-reinstall {wheel_file}",
]
"""asv 0.6.6's own command installs all dependencies again with each commit, which takes minutes if
torch is one of them. The second line is for a commit of the same version as the one before."""


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


_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that neither the name of a file nor the argument of a command can have."""


class _Entries(msgspec.Struct):
    """Types of asv's entries of asv.conf.json that are used here; asv itself checks none."""

    repo: str
    project: str
    branches: Annotated[list[str | None], msgspec.Meta(min_length=1)]
    pythons: Annotated[list[str], msgspec.Meta(min_length=1)]
    matrix: dict[str, Any]
    include: list[dict[str, Any]]
    exclude: list[dict[str, Any]]
    env_dir: str
    benchmark_dir: str
    results_dir: str
    html_dir: str
    environment_type: str | None
    build_command: list[str] | str | None
    install_command: list[str] | str | None


_REPLACED = ("conda", "mamba", "rattler", "uv")
"""Types of environments that virtualenv replaces where their program is not installed."""


@functools.cache
def available_type(wanted: str) -> str:
    """Return a type of environments that asv can make here: the wanted one, or virtualenv.

    Raises:
        WatchError: no asv makes environments of the wanted type.
    """
    classes = asv.util.iter_subclasses(asv.environment.Environment)
    known = {cls.tool_name for cls in classes if cls.tool_name}
    has_program = shutil.which(wanted) or (wanted == "conda" and os.environ.get("CONDA_EXE"))
    if wanted in known and (has_program or wanted not in {"conda", "uv"}):
        return wanted
    if wanted not in _REPLACED:
        raise WatchError(
            f"asv {asv.__version__} makes no environments of type {wanted!r}; choose one of "
            f'{", ".join(sorted(known))} with -E, or as "environment_type" in asv.conf.json'
        )
    print(f"{wanted} is not installed: virtualenv makes the environments instead", file=sys.stderr)
    return "virtualenv"


def load_settings(root: Path) -> Any:
    """Read asv's settings from ``root/asv.conf.json``, with absolute paths of its folders.

    Their attribute ``declared`` holds the settings of this package.

    Raises:
        WatchError: the file is missing or damaged.
    """
    path = settings_file(root)
    try:
        read_regular(path)  # asv would wait for ever at a fifo
        conf = asv.config.Config.load(str(path))
        msgspec.convert(vars(conf), _Entries)
        for name, entry in vars(conf).items():
            for text in entry if isinstance(entry, list) else [entry]:
                if isinstance(text, str) and _UNUSABLE.search(text):
                    raise ValueError(f"{name!r} holds a character that no name of a file can have")
        for folder in ("env_dir", "html_dir", "results_dir"):
            setattr(conf, folder, str(root / getattr(conf, folder)))
        environment, python = os.environ.get(ENVIRONMENT, ""), os.environ.get(PYTHON, "")
        if environment and not ENVIRONMENT_NAME.fullmatch(environment):
            conf.environment_type = environment
        if python:  # then `include` is ignored, as asv does it
            conf.pythons, conf.include = [python], []
        if conf.environment_type:  # asv chooses one where none is named
            kind, _, python = conf.environment_type.partition(":")
            conf.environment_type = ":".join([available_type(kind), *([python] if python else [])])
        conf.declared = read_declared(conf, root)
        if conf.build_command is None:
            conf.build_command = BUILD
        if conf.install_command is None and conf.build_command:
            conf.install_command = INSTALL
        return conf
    except (asv.util.UserError, ValueError, OSError, TypeError, RecursionError) as error:
        raise WatchError(
            f"{path.name} cannot be read ({error}); restore it with `git checkout {path.name}`"
        ) from error
