"""Suites work in the environments of asv.conf.json, which have less than those that run asv."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import run

INSTALLED = ("asv_runner", "torch", "torchvision", "scikit-learn")
"""What asv installs: its runner, and the requirements of asv.conf.json."""
OURS = {"torchspeed", "pip", "setuptools"}
PROBE = """
import importlib
import sys

sys.modules |= dict.fromkeys(sys.argv[1].split())  # None: cannot be imported
for wanted in sys.argv[2:]:
    module, name = wanted.split(":")
    getattr(importlib.import_module(f"torchspeed.{module}"), name)

from torchspeed.training.cases import time_to_accuracy_of

print(time_to_accuracy_of("lenet5", "cpu").best_test_accuracy)
"""


def test_everything_that_suites_import_needs_only_what_asv_installs(root: Path) -> None:
    suites = "".join(path.read_text() for path in (root / "benchmarks").glob("*.py"))
    imported = re.findall(r'from_commit\(\s*"([\w.]+)", "(\w+)"', suites)
    assert ("training.cases", "adam_steps") in imported
    wanted = (f"{module}:{name}" for module, name in imported)
    done = run(
        *(sys.executable, "-c", PROBE, " ".join(_absent_modules()), *wanted),
        cwd=root,
        env={"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"},
    )
    assert 0.8 <= float(done.stdout) <= 1


def _absent_modules() -> list[str]:
    """Modules of the environment of the tests that no environment of asv has."""
    installed = with_requirements(INSTALLED) | OURS
    return [
        module
        for module, owners in importlib.metadata.packages_distributions().items()
        if installed.isdisjoint(map(canonicalize_name, owners))
    ]


def with_requirements(distributions: Iterable[str]) -> set[str]:
    """Names of the distributions and of all that they require, without extras."""
    names: set[str] = set()
    waiting = [canonicalize_name(name) for name in distributions]
    while waiting:
        name = waiting.pop()
        if name in names:
            continue
        names.add(name)
        try:
            requirements = map(Requirement, importlib.metadata.requires(name) or [])
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform
        waiting += [
            canonicalize_name(requirement.name)
            for requirement in requirements
            if "extra" not in str(requirement.marker)
        ]
    return names
