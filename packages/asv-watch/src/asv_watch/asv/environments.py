"""Makes environments as asv does, and builds the package of a commit for them.

asv_runner decides how samples are taken, and asv installs its newest release into every new
environment. Here asv installs the release that this package requires, also into an environment
that holds another one.
"""

import contextlib
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asv.environment
import asv.repo
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from asv_watch.asv.conf import BUILD, load_settings
from asv_watch.asv.settings import ASKING_TIMEOUT_S, EnvironmentSpec, pinned_asv_runner
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.commands import find_cause, run_command, succeeds
from asv_watch.versions.git import ask_git, top_of
from asv_watch.versions.version import distribution

INFORMATION = "asv-env-info.json"
"""File that asv writes into an environment when it has been made."""


def is_working(folder: Path) -> bool:
    """Tell whether an environment's interpreter runs, and pip and asv_runner can be imported."""
    command = [str(folder / "bin" / "python"), "-I", "-c", "import pip, asv_runner"]
    return succeeds(command, ASKING_TIMEOUT_S)


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


def _install_build_requirements(environment: Any, pyproject: str) -> None:
    """Install what a commit's build needs, if the project has a build command of its own.

    asv installs only what the checkout needs, and only into a new environment.
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


_INSTALL_TIMEOUT = 3600.0  # s


def make_environment(root: Path, repository: Path, spec: EnvironmentSpec) -> None:
    """Make an environment of asv.conf.json, unless that is done already.

    What a project requires is installed with its commits (`build_package`). A release to compare,
    which asv does not know, gets its requirements alone.

    Raises:
        MachineError: the machine is to blame, such as its network, or the package index takes too
            long.
        WatchError: it cannot be made.
    """
    is_made = (spec.folder / INFORMATION).is_file()
    is_pinned = is_made and _releases(spec.folder, "asv_runner") == {pinned_asv_runner()}
    if spec.interpreter is not None or (is_pinned and is_working(spec.folder)):
        return
    if not spec.name:
        _install_release(spec)
        return
    print("  creating the environment (once)", flush=True)
    _, environment = _environment_of(root, repository, spec)
    with _one_line_error(f"the environment {spec.label} cannot be made"):
        create(environment)


def _install_release(spec: EnvironmentSpec) -> None:
    """Install a release to compare; a half-made environment is made anew."""
    folder = spec.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    requirements = [
        *(  # the published wheel, without local builds
            f"{distribution(name)}==={release}" if release else distribution(name)
            for name, release in spec.requirements.items()
        ),
        f"asv_runner=={pinned_asv_runner()}",
    ]
    virtualenv = [sys.executable, "-m", "virtualenv", "--quiet", "--python", spec.python]
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    variables = os.environ | dict(spec.variables)
    try:
        for command in ([*virtualenv, str(folder)], [*pip, *requirements]):
            run_command(command, _INSTALL_TIMEOUT, installs=True, cwd=folder.parent, env=variables)
    except WatchError as error:
        raise WatchError(f"{spec.release}: {error}") from error
    (folder / INFORMATION).touch()
    check_environment(folder)


_NEEDED_PYTHON = re.compile(r"""\b(?:requires-python|python_requires)\s*=\s*["']?([^"'\n]+)""")
"""What pyproject.toml, setup.cfg or setup.py says of the Pythons that a project needs."""


def _environment_of(
    root: Path, repository: Path, spec: EnvironmentSpec, commit: str = "HEAD"
) -> tuple[Any, Any]:
    """Return asv's settings and its environment for a commit; refuse one for another Python."""
    conf = load_settings(root)
    conf.repo = top_of(repository)
    for name in ("pyproject.toml", "setup.cfg", "setup.py"):
        path = Path(conf.repo_subdir, name).as_posix()
        if needed := _NEEDED_PYTHON.search(ask_git(Path(conf.repo), "show", f"{commit}:{path}")):
            with contextlib.suppress(InvalidSpecifier, InvalidVersion):
                if SpecifierSet(needed[1].strip()).contains(spec.python):
                    break
                raise WatchError(
                    f"{Path(conf.project).name} needs Python {needed[1].strip()} and this is "
                    f'{spec.python}; choose another one with --python, or "pythons"'
                )
    [environment] = asv.environment.get_environments(conf, [spec.name], verbose=False)
    return conf, environment


@contextlib.contextmanager
def _one_line_error(failure: str) -> Iterator[None]:
    try:
        yield
    except (WatchError, MachineError):
        raise
    except Exception as error:  # py-rattler has errors of its own
        output = getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error)
        cause = find_cause(output)
        if isinstance(cause, MachineError):
            raise cause from error
        raise WatchError(
            f"{failure} ({cause}); choose another commit, or correct the Pythons, "
            "requirements and build commands of asv.conf.json"
        ) from error


def build_package(
    root: Path, repository: Path, spec: EnvironmentSpec, commit: str, folder: Path
) -> None:
    """Build a commit with the project's own commands, for imports from a folder.

    asv builds and installs the commit into the environment, which keeps the wheel. From there, or
    from the checked out commit of a project that builds none, pip installs it into the folder, so
    that two commits can be imported in one environment at the same time. The folder exists
    afterwards only if all went well.

    Raises:
        WatchError: the commit cannot be built.
    """
    conf, environment = _environment_of(root, repository, spec, commit)
    make_environment(root, repository, spec)
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    pyproject = Path(conf.repo_subdir, "pyproject.toml").as_posix()
    with _one_line_error(f"commit {commit[:8]} cannot be built and installed"):
        text = ask_git(Path(conf.repo), "show", f"{commit}:{pyproject}")
        try:
            _install_build_requirements(environment, text)
            environment.install_project(conf, asv.repo.get_repo(conf), commit)
        except Exception:
            check_environment(spec.folder)  # the commit is not to blame for a damaged one
            raise
        wheels = sorted(Path(environment._cache.get_cache_dir(commit) or aside).glob("*.whl"))
        built = wheels[0] if wheels else Path(environment._build_root, conf.repo_subdir)
        target = ["--target", str(aside), str(built)]
        environment.run_executable(
            "python",
            ["-m", "pip", "install", "--no-deps", *target],
            env=os.environ | environment.build_env_vars,
        )
    aside.rename(folder)
