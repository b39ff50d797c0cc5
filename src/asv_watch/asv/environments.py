"""What asv's environments are made of, beyond what asv.conf.json says.

**asv_runner.** It decides how samples are taken, and asv installs its newest release into every
new environment. Here it installs the one that this package requires; an environment that holds
another release gets that one too.

**Building.** A project without ``build_command`` is built by `BUILD`, one without
``install_command`` installed by `INSTALL`. For the project's own commands the environment has what
a commit is built with, also where other commits were built with something else.

**Facts.** Every run records what its environment consists of.

**Conditions by hand.** asv leaves the variables of ``env_nobuild`` out of a run with
``--python=same`` or another existing Python. It gets them as asv's own environments do, apart
from those that the person who runs it has set.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import asv.util
from asv.console import log
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from asv_watch import probes
from asv_watch.asv.declared import declared
from asv_watch.machine.facts import machine_facts, machine_state

BUILD = ["python -m pip wheel --no-deps -w {build_cache_dir} {build_dir}"]
"""asv 0.6.6's own command makes wheels of the dependencies too, and then asv cannot choose one."""
INSTALL = [
    "in-dir={env_dir} python -m pip install {wheel_file}",
    "in-dir={env_dir} python -m pip install --no-deps --force-reinstall {wheel_file}",
]
"""asv 0.6.6's own command installs all dependencies again with each commit, which takes minutes
where torch is one. The second line is for a commit of the same version as the one before."""
_INFORMATION = "asv-env-info.json"
"""File that asv writes into an environment when it has been made."""
_ASKING_TIMEOUT = 120  # s: an import from a cold disk may take most of a minute


def pinned_asv_runner() -> str:
    """Return the release of asv_runner that measures: the only one that this package accepts."""
    return metadata.version("asv_runner")


def build_without_dependencies(conf: Any) -> None:
    """Let asv's settings build and install the project alone, unless they say how it is done."""
    if conf.build_command is None:
        conf.build_command = BUILD
    if conf.install_command is None and conf.build_command:
        conf.install_command = INSTALL


def is_complete(folder: Path) -> bool:
    """Tell whether asv has made an environment to the end, with the pinned asv_runner in it."""
    return (folder / _INFORMATION).is_file() and _releases(folder, "asv_runner") == {
        pinned_asv_runner()
    }


def _releases(folder: Path, name: str) -> set[str]:
    """Return the releases of a package that an environment holds; one at most, if all is well."""
    installed = [
        path.stem.partition("-") for path in folder.glob("lib/python*/site-packages/*.dist-info")
    ]
    wanted = canonicalize_name(name)
    return {release for package, _, release in installed if canonicalize_name(package) == wanted}


def creating(original: Any) -> Any:
    """Replace ``Environment.create``: the environment holds the pinned asv_runner after it.

    Raises:
        asv.util.UserError: It cannot be installed.
    """

    def create(self: Any) -> None:
        pinned = pinned_asv_runner()
        self._base_requirements["pip+asv_runner"] = pinned
        original(self)
        if _releases(Path(self._path), "asv_runner") - {pinned}:
            try:
                self._run_pip(["install", f"asv_runner=={pinned}"])
            except asv.util.ProcessError as error:
                raise asv.util.UserError(
                    f"asv_runner {pinned} cannot be installed into {self._path}; connect to the "
                    "network, or remove that folder to make the environment anew"
                ) from error

    return create


def building(original: Any) -> Any:
    """Replace ``Environment._build_project``: the environment has what the commit is built with.

    asv installs that of the checkout alone, and only into a new environment.
    """

    def _build_project(self: Any, repo: Any, commit_hash: str, build_dir: str) -> None:
        file = Path(build_dir, "pyproject.toml")
        missing: list[str] = []
        if self._build_command != BUILD and file.is_file():
            with contextlib.suppress(ValueError):  # pip says what is wrong with the file
                system = tomllib.loads(file.read_text(encoding="utf-8")).get("build-system", {})
                missing = [
                    requirement
                    for requirement in system.get("requires", [])
                    if not _releases(Path(self._path), Requirement(requirement).name)
                ]
        if missing:
            self._run_pip(["install", *missing])
        original(self, repo, commit_hash, build_dir)

    return _build_project


def existing(original: Any) -> Any:
    """Replace ``ExistingEnvironment.__init__``: it has the variables of ``env_nobuild``."""

    def __init__(  # noqa: N807
        self: Any, conf: Any, executable: str, requirements: Any, tagged_env_vars: Any
    ) -> None:
        conditions = {
            ("nobuild", name): values[0] if isinstance(values, list) else values
            for name, values in conf.matrix.get("env_nobuild", {}).items()
            if name not in os.environ
        }
        original(self, conf, executable, requirements, conditions | tagged_env_vars)

    return __init__


def describe_run(env: Any) -> dict[str, Any]:
    """Return the record of a run that begins now (`asv_watch.records.side_files`)."""
    record: dict[str, Any] = {"at": int(time.time()), "machine": machine_facts()}
    record |= {"environment": {}, "details": {}}

    packages = [name.removeprefix("pip+") for name in env.requirements]
    commands = [["-P", str(probes.ENVIRONMENT), *packages]]
    if (script := declared().facts_script) is not None:
        commands.append(["-P", str(script)])
    variables = os.environ | env.env_vars
    try:
        printed = [str(env.run(c, timeout=_ASKING_TIMEOUT, env=variables)) for c in commands]
        for answer in [json.loads(text.splitlines()[-1]) for text in printed]:
            record["environment"] |= answer.get("facts", {})
            record["details"] |= answer.get("details", {})
    except (asv.util.ProcessError, ValueError, LookupError) as error:
        # The values are as good without a description of the environment.
        log.warning(f"the environment could not be asked about itself: {error}")
    return record | {"before": machine_state()}
