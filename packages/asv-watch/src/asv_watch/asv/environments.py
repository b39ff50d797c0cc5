"""What this package adds to the environments that asv makes.

**asv_runner.** It decides how samples are taken, and asv installs its newest release into every
new environment. Here asv installs the release that this package requires, also into an
environment that holds another one.

**Building.** `BUILD` builds a project without a ``build_command``, and `INSTALL` installs one
without an ``install_command``. For the project's own commands, the environment gets the build
requirements of each commit, even if other commits have others.
"""

import contextlib
import json
import re
import shutil
import tomllib
from collections.abc import Collection
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from asv_watch import probes
from asv_watch.asv.commands import run_command
from asv_watch.errors import MachineError, WatchError
from asv_watch.versions.version import distribution

BUILD = ["python -m pip wheel --no-deps -w {build_cache_dir} {build_dir}"]
"""asv 0.6.6's own command makes wheels of the dependencies too, and then asv cannot choose one."""
INSTALL = [
    "in-dir={env_dir} python -m pip install {wheel_file}",
    "in-dir={env_dir} python -m pip install --no-deps --force-reinstall {wheel_file}",
]
"""asv 0.6.6's own command installs all dependencies again with each commit, which takes minutes if
torch is one of them. The second line is for a commit of the same version as the one before."""
INFORMATION = "asv-env-info.json"
"""File that asv writes into an environment when it has been made."""
_ASKING_TIMEOUT = 120.0  # s: an import from a cold disk may take most of a minute


def pinned_asv_runner() -> str:
    """Return the release of asv_runner that measures: the only one that this package accepts."""
    return metadata.version("asv_runner")


def describe_interpreter(python: Path, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """Ask an interpreter that somebody else made which releases it has of some requirements.

    Args:
        python: its path.
        names: the requirements, as asv.conf.json names them.

    Returns:
        Its release of Python, such as ``3.12``, and by name those of what is installed.

    Raises:
        WatchError: there is none, or it lacks the asv_runner that measures.
    """
    wanted = pinned_asv_runner()
    try:
        command = [str(python), "-P", str(probes.ENVIRONMENT), *map(distribution, names)]
        answer = json.loads(run_command(command, _ASKING_TIMEOUT))
    except (OSError, ValueError, WatchError) as error:
        raise WatchError(
            f"{python} is no Python that runs here ({error}); give the path of an interpreter"
        ) from error
    installed = answer["details"]["asv_runner"]
    if installed != wanted:
        raise WatchError(
            f"{python} needs asv_runner {wanted} to be measured, and has {installed}; run "
            f"`{python} -m pip install asv_runner=={wanted}`"
        )
    facts: dict[str, str] = answer["facts"]
    release = re.search(r"\d+\.\d+", facts["interpreter"])
    known = {name: facts.get(f"package {distribution(name)}", "") for name in names}
    return release[0] if release else "", {name: text for name, text in known.items() if text}


def build_without_dependencies(conf: Any) -> None:
    """Let asv's settings build and install the project alone, unless they say how it is done."""
    if conf.build_command is None:
        conf.build_command = BUILD
    if conf.install_command is None and conf.build_command:
        conf.install_command = INSTALL


def is_complete(folder: Path) -> bool:
    """Tell whether an environment was made to the end, with the pinned asv_runner in it."""
    is_made = (folder / INFORMATION).is_file()
    return is_made and _releases(folder, "asv_runner") == {pinned_asv_runner()}


def is_working(folder: Path) -> bool:
    """Tell whether an environment's interpreter runs, and pip and asv_runner can be imported."""
    try:
        command = [str(folder / "bin" / "python"), "-I", "-c", "import pip, asv_runner"]
        run_command(command, _ASKING_TIMEOUT)
    except (OSError, WatchError):
        return False
    return True


def check_environment(folder: Path) -> None:
    """Refuse an environment that does not work, for which no commit is to blame."""
    if not is_working(folder):
        raise MachineError(
            f"the environment {folder} is damaged; `rm -r {folder}` removes it, and the next run "
            "makes it anew"
        )


def installed_in(folder: Path) -> frozenset[tuple[str, int]]:
    """Return what is installed in an environment: each entry's name, and when it was installed."""
    found = []
    for path in folder.glob("lib/python*/site-packages/*"):
        stamped = path / "RECORD" if path.is_dir() else path  # imports change folders
        if path.name != "__pycache__":
            found.append((path.name, stamped.stat().st_mtime_ns if stamped.exists() else 0))
    return frozenset(found)


def mark_as_damaged(folder: Path) -> None:
    """Let the next use of an environment make it anew."""
    (folder / INFORMATION).unlink(missing_ok=True)


def _releases(folder: Path, name: str) -> set[str]:
    """Return the releases of a package in an environment: at most one, if all is well."""
    installed = [
        path.stem.partition("-") for path in folder.glob("lib/python*/site-packages/*.dist-info")
    ]
    wanted = canonicalize_name(name)
    return {release for package, _, release in installed if canonicalize_name(package) == wanted}


def create(environment: Any) -> None:
    """Make an environment of asv's that holds the pinned asv_runner; one that is damaged anew.

    Raises:
        asv.util.ProcessError: a package cannot be installed.
        MachineError: it does not work.
    """
    pinned, folder = pinned_asv_runner(), Path(environment._path)
    if folder.exists() and not is_working(folder):  # asv would use it as it is
        print(f"  the environment {folder} is damaged, and made anew", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    environment._base_requirements["pip+asv_runner"] = pinned
    environment.create()
    if _releases(folder, "asv_runner") - {pinned}:
        environment._run_pip(["install", f"asv_runner=={pinned}"])
    check_environment(folder)


def install_build_requirements(environment: Any, pyproject: str) -> None:
    """Install what a commit's build needs, if the project has a build command of its own.

    asv installs only what the checkout needs, and only into a new environment.

    Args:
        environment: asv's.
        pyproject: text of the commit's ``pyproject.toml``; empty if it has none.

    Raises:
        asv.util.ProcessError: a package cannot be installed.
    """
    if environment._build_command == BUILD:
        return
    missing: list[str] = []
    with contextlib.suppress(ValueError):  # pip says what is wrong with the file
        missing = [
            requirement
            for requirement in tomllib.loads(pyproject).get("build-system", {}).get("requires", [])
            if not _releases(Path(environment._path), Requirement(requirement).name)
        ]
    if missing:
        environment._run_pip(["install", *missing])
