"""The command in a process of its own, where other packages are not installed."""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

_WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None  # as if it were not installed
from torchspeed.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run_program(
    *arguments: str,
    missing: Sequence[str] = (),
    folder: Path = ROOT,
    stdout: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _WITHOUT.format(missing=missing), *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=False,
    )


def modules_without(distributions: Iterable[str]) -> list[str]:
    """Modules that are found here, and would not be with these distributions and torchspeed."""
    installed = _with_requirements(distributions) | {"torchspeed", "pip", "setuptools"}
    return [
        module
        for module, owners in metadata.packages_distributions().items()
        if installed.isdisjoint(map(canonicalize_name, owners))
        and module not in sys.stdlib_module_names
    ]


def _with_requirements(distributions: Iterable[str]) -> set[str]:
    """Names of the distributions and of all that they require, without extras."""
    names: set[str] = set()
    waiting = [canonicalize_name(name) for name in distributions]
    while waiting:
        name = waiting.pop()
        if name in names:
            continue
        names.add(name)
        try:
            requirements = map(Requirement, metadata.requires(name) or [])
        except metadata.PackageNotFoundError:
            continue  # for another platform
        waiting += [
            canonicalize_name(requirement.name)
            for requirement in requirements
            if "extra" not in str(requirement.marker)
        ]
    return names
