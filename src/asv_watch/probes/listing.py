"""Lists the benchmarks of a folder of suites, or of some of its modules, as asv's script does.

Runs as a script in the environment that is measured, ``python -P listing.py <folder of suites>
<file> [module]...``; it needs nothing of this package. The file gets JSON: the list of
``benchmarks``, and ``failures``, which maps a module that cannot be imported, or whose benchmarks
cannot be made, to the error. Where modules are named, no other is imported: a suite may take half
a minute to import. A second file, with the suffix ``.imports``, gets a line for each module before
it is imported: the time on the monotonic clock, and the module's name.
"""

from __future__ import annotations

import importlib
import io
import json
import pkgutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


def list_benchmarks(suites: str, file: str, modules: Sequence[str]) -> None:
    """Write the benchmarks of modules, such as ``package.module``, or of all, to a file."""
    from asv_runner import discovery  # noqa: PLC0415 - of the environment

    imports = Path(file).with_suffix(".imports")
    root = Path(suites).name
    failures: dict[str, str] = {}  # an empty name stands for the folder itself
    benchmarks: list[dict[str, Any]] = []

    def fail(name: str, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            raise error
        failures[name.partition(".")[2]] = f"{type(error).__name__}: {error}"

    def import_all(name: str, *, below: bool = True) -> Iterator[ModuleType]:
        """Import a module, and all below it; note those that cannot be imported."""
        with imports.open("a", encoding="utf-8") as stream:
            stream.write(f"{time.monotonic()} {name}\n")
        try:
            module = importlib.import_module(name)
        except BaseException as error:  # whatever a suite raises, such as SystemExit
            fail(name, error)
            return
        yield module
        folders = getattr(module, "__path__", ()) if below else ()
        for _, found, _ in pkgutil.iter_modules(folders, f"{name}."):
            yield from import_all(found)

    def chosen() -> Iterator[ModuleType]:
        yield from import_all(root, below=not modules)
        for name in modules if not failures else ():
            yield from import_all(f"{root}.{name}")

    discovery.update_sys_path(suites)
    for module in chosen():
        discovery.disc_modules = lambda *_, found=module, **__: iter([found])
        listed = io.StringIO()
        try:
            discovery.list_benchmarks(suites, listed)
        except BaseException as error:  # of a suite whose class cannot be made
            fail(module.__name__, error)
        else:
            benchmarks += json.loads(listed.getvalue())
    answer = {"benchmarks": benchmarks, "failures": failures}
    Path(file).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    list_benchmarks(sys.argv[1], sys.argv[2], sys.argv[3:])
