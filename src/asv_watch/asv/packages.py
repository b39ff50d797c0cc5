"""Builds the package of a commit as asv does, and puts it into a folder of its own."""

from __future__ import annotations

import functools
import os
import shutil
from pathlib import Path

import asv.environment
import asv.repo

from asv_watch.asv.commands import find_cause
from asv_watch.asv.environments import building
from asv_watch.asv.settings import EnvironmentSpec, load_settings
from asv_watch.errors import MachineError, WatchError
from asv_watch.records.git import top_of


def build_package(
    root: Path, repository: Path, spec: EnvironmentSpec, commit: str, folder: Path
) -> None:
    """Build a commit with the project's own commands, for imports from a folder.

    asv builds and installs the commit into the environment, which keeps the wheel. From there, or
    from the checked out commit of a project that builds none, pip installs it into the folder, so
    that two commits can be imported in one environment at the same time.

    Args:
        root: the folder of asv.conf.json.
        repository: where the commit is.
        spec: its environment; made if it is missing.
        commit: full hash.
        folder: where to; it exists afterwards only if all went well.

    Raises:
        WatchError: the environment holds a package that somebody else installed, or the
            commit cannot be built.
    """
    conf = load_settings(root)
    conf.repo = top_of(repository)
    [environment] = asv.environment.get_environments(conf, [spec.name], verbose=False)
    if not environment.can_install_project():
        raise WatchError(
            f"{spec.name} cannot hold another commit than what is installed there; "
            'choose "virtualenv", "conda" or the like as "environment_type" in asv.conf.json'
        )
    # The plugin, which replaces it in asv's own processes, is not loaded here.
    build = building(type(environment)._build_project)
    environment._build_project = functools.partial(build, environment)
    aside = folder.with_name(f".{folder.name}.tmp")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        environment.create()
        environment.install_project(conf, asv.repo.get_repo(conf), commit)
        wheels = sorted(Path(environment._cache.get_cache_dir(commit) or aside).glob("*.whl"))
        built = wheels[0] if wheels else Path(environment._build_root, conf.repo_subdir)
        target = ["--target", str(aside), str(built)]
        environment.run_executable(
            "python",
            ["-m", "pip", "install", "--no-deps", *target],
            env=os.environ | environment.build_env_vars,
        )
    except Exception as error:  # py-rattler has errors of its own
        output = getattr(error, "stderr", "") or getattr(error, "stdout", "") or str(error)
        cause = find_cause(output)
        if cause.is_machine:
            raise MachineError(cause.reason) from error
        raise WatchError(
            f"commit {commit[:8]} cannot be built and installed ({cause.reason}); "
            "choose another commit, or correct the Pythons and build commands of asv.conf.json"
        ) from error
    aside.rename(folder)
