"""Prints which modules of a commit the suites take from elsewhere, as JSON: ``{name: file}``.

Runs as a script in the environment that is measured, ``python -P imported.py <folder of suites>
<folder of the commit's package> [module]...``, with that folder in ``PYTHONPATH``; it needs
nothing of this package. The modules, such as ``linalg``, are suites that are not imported. A suite
that puts the checkout first in ``sys.path`` measures the checkout, whatever the commit.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path


def taken_from_elsewhere(suites: str, source: Path, broken: Sequence[str]) -> dict[str, str]:
    """Import suites but the broken ones, then look where modules in a folder are imported from."""
    from asv_runner.discovery import (  # noqa: PLC0415 - of the environment
        disc_benchmarks,
        update_sys_path,
    )

    update_sys_path(suites)
    for module in broken:
        sys.modules[f"{Path(suites).name}.{module}"] = None  # type: ignore[assignment]
    for _benchmark in disc_benchmarks(suites, ignore_import_errors=True):
        pass
    elsewhere = {}
    for name in sorted({entry.name.partition(".")[0] for entry in source.iterdir()}):
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        file = Path(spec.origin).resolve() if spec and spec.origin else source
        if not file.is_relative_to(source) and not file.is_relative_to(suites):
            elsewhere[name] = str(file)
    return elsewhere


if __name__ == "__main__":
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a suite prints
    elsewhere = taken_from_elsewhere(sys.argv[1], Path(sys.argv[2]).resolve(), sys.argv[3:])
    print(json.dumps(elsewhere), file=answers, flush=True)
    os._exit(0)  # or Python looks for cycles among all that was imported
