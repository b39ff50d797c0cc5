"""Prints the CPU seconds of importing a package, as JSON, or only the folder that has it.

Runs as a script in the environment that is measured, ``python -P importing.py <distribution>
[folder]``; it needs nothing of this package.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import time


def module_of(distribution: str) -> str:
    """Return the module that a distribution installs: ``sklearn`` for ``scikit-learn``."""
    same_name = distribution.replace("-", "_")
    if importlib.util.find_spec(same_name) is not None:
        return same_name
    from importlib import metadata  # noqa: PLC0415 - the import that is measured may share it

    installed = metadata.packages_distributions().items()
    modules = [
        module for module, names in installed if _normal(distribution) in map(_normal, names)
    ]
    return next((module for module in sorted(modules) if module[0] != "_"), same_name)


def folder_of(module: str) -> str:
    """Return the folder from which a module would be imported; empty if it is Python's or none."""
    spec = importlib.util.find_spec(module)
    if spec is None or module in sys.stdlib_module_names:
        return ""
    return os.path.dirname(next(iter(spec.submodule_search_locations or [str(spec.origin)])))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    module = module_of(sys.argv[1])
    if sys.argv[2:]:
        print(folder_of(module))
    else:
        began = time.process_time()
        importlib.import_module(module)
        print(json.dumps(time.process_time() - began))
