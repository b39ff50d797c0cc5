"""Modules that a process must do without."""

import sys
from collections.abc import Iterable
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name


def modules_without(distributions: Iterable[str]) -> list[str]:
    """Modules that are found here, and would not be with these distributions and torchspeed."""
    installed = _with_requirements(distributions) | {"torchspeed", "pip", "setuptools"}
    return [
        module
        for module, owners in metadata.packages_distributions().items()
        if installed.isdisjoint(map(canonicalize_name, owners))
        and module not in sys.stdlib_module_names
    ]


def _with_requirements(distributions: Iterable[str]) -> set[NormalizedName]:
    """Names of the distributions and of all that they require, without extras."""
    required = {canonicalize_name(each.name): each.requires for each in metadata.distributions()}
    names = set(map(canonicalize_name, distributions))
    waiting = [*names]
    for name in waiting:  # which grows meanwhile
        for requirement in map(Requirement, required.get(name) or []):
            further = canonicalize_name(requirement.name)
            if further not in names and "extra" not in str(requirement.marker):
                names.add(further)
                waiting.append(further)
    return names
