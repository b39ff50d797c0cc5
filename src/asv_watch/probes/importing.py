"""Prints what importing a package costs.

Runs as a script in the environment that is measured, ``python -P importing.py <distribution>``; it
needs nothing of this package. It prints one line of JSON: ``import_s``, CPU seconds of the import,
and ``import_peak_bytes``, the peak resident set of the process after it.
"""

from __future__ import annotations

import importlib.util
import json
import re
import resource
import sys
import time

_KIB = 1024


def module_of(distribution: str) -> str:
    """Return the module that a distribution installs: ``sklearn`` for ``scikit-learn``."""
    alike = distribution.replace("-", "_")
    if importlib.util.find_spec(alike) is not None:
        return alike
    from importlib import metadata  # noqa: PLC0415 - the import that is measured may share it

    installed = metadata.packages_distributions().items()
    modules = [
        module for module, names in installed if _normal(distribution) in map(_normal, names)
    ]
    return next((module for module in sorted(modules) if module[0] != "_"), alike)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def import_module(name: str) -> dict[str, float]:
    """Import a module and return what that cost."""
    began = time.process_time()
    importlib.import_module(name)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    return {"import_s": seconds, "import_peak_bytes": peak}


if __name__ == "__main__":
    print(json.dumps(import_module(module_of(sys.argv[1]))))
