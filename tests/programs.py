"""Modules that a process must do without."""

import sys
from collections.abc import Iterable
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


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
    required = {canonicalize_name(each.name): each.requires for each in metadata.distributions()}
    names: set[str] = set()
    waiting = [canonicalize_name(name) for name in distributions]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            requirements = map(Requirement, required.get(name) or [])
            waiting += [
                canonicalize_name(requirement.name)
                for requirement in requirements
                if "extra" not in str(requirement.marker)
            ]
    return names
