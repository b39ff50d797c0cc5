"""Lists the benchmarks of modules in a folder of suites, as asv's script does.

Runs as a script in the environment that is measured, ``python -P listing.py <folder of suites>
<file> <folder of the package>``; it needs nothing of this package. It imports one module after the
other, so that what they share is imported once: a suite may take half a minute to import.

Each line of standard input names a module, such as ``suites.linalg``. The file gets what is known
of it, as JSON, and an empty line of standard output says when: its ``benchmarks``; ``below``, the
names of the modules in it; ``failed``, the error if it cannot be imported, or its benchmarks
cannot be made; ``elsewhere``, which maps parts of the package that are now imported from another
folder to their files.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import pkgutil
import sys
from pathlib import Path
from typing import Any


def _contents(suites: str, name: str) -> dict[str, Any]:
    from asv_runner import discovery  # noqa: PLC0415 - of the environment

    answer: dict[str, Any] = {}
    listed = io.StringIO()
    try:
        module = importlib.import_module(name)
        below = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}.")
        answer["below"] = [found for _, found, _ in below]
        discovery.disc_modules = lambda *_, **__: iter([module])
        discovery.list_benchmarks(suites, listed)
        answer["benchmarks"] = json.loads(listed.getvalue())
    except BaseException as error:  # whatever a suite raises, such as SystemExit
        answer["failed"] = " ".join(f"{type(error).__name__}: {error}".split())
    return answer


def _found_elsewhere(suites: str, package: str) -> dict[str, str]:
    folders = Path(package).resolve(), Path(suites).resolve()
    entries = folders[0].iterdir() if folders[0].is_dir() else ()
    names = sorted({entry.name.partition(".")[0] for entry in entries})
    found = {}
    for name in (name for name in names if name.isidentifier() and not name.startswith("__")):
        with contextlib.suppress(ValueError):  # a suite put something else in its place
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.has_location and spec.origin:
                file = Path(spec.origin).resolve()
                if not any(map(file.is_relative_to, folders)):
                    found[name] = str(file)
    return found


def main(suites: str, file: str, package: str) -> None:
    """Write what each requested module holds to a file."""
    from asv_runner import discovery  # noqa: PLC0415 - of the environment

    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):  # which a suite may read, print to, or leave to other processes
        os.dup2(nowhere, standard)
    discovery.update_sys_path(suites)
    found_before = _found_elsewhere(suites, package).items()
    for line in requests:
        answer = _contents(suites, line.strip())
        # Such as if a suite puts the checkout first in `sys.path`, whatever the commit.
        if moved := dict(_found_elsewhere(suites, package).items() - found_before):
            answer["elsewhere"] = moved
        Path(file).write_text(json.dumps(answer), encoding="utf-8")
        print(file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
