"""Prints the environment of a process: Python, packages, variables.

Runs as a script in the environment that is measured, ``python -P environment.py <package> …``, and
prints JSON; it needs nothing of this package, so that it works for commits from before it. Facts
of the machine are read by `asv_watch.machine.facts`.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Iterable
from importlib import metadata

_VARIABLES = re.compile(
    r"(OMP|GOMP|KMP|MKL|OPENBLAS|ONEDNN|DNNL|MALLOC)_"
    r"|GLIBC_TUNABLES$|LD_PRELOAD$|PYTHON(HASHSEED|MALLOC|OPTIMIZE|NODEBUGRANGES)$"
)


def facts(packages: Iterable[str]) -> dict[str, str]:
    """Return what can change a value without a change of the code, as text by name."""
    known = {
        "interpreter": f"{platform.python_implementation()} {platform.python_version()}, "
        f"{platform.python_compiler()}",
        "C library": " ".join(platform.libc_ver()).strip() or "unknown",
    }
    known |= {
        f"variable {name}": value for name, value in os.environ.items() if _VARIABLES.match(name)
    }
    releases = {package: _release(package) for package in packages}
    return known | {f"package {name}": release for name, release in releases.items() if release}


def _release(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    # asv_runner is recorded for people alone: it is part of a benchmark's version too, which keeps
    # values apart.
    runner = {"asv_runner": _release("asv_runner") or "not installed"}
    print(json.dumps({"facts": facts(sys.argv[1:]), "details": runner}))
