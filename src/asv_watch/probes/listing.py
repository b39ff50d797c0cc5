"""Lists the benchmarks of a folder of suites, or of some of its modules, as asv's script does.

Runs as a script in the environment that is measured, ``python -P listing.py <folder of suites>
<file> [module]...``; it needs nothing of this package. The file gets a JSON list of them. Where
modules are named, no other is imported: a suite may take half a minute to import. A second file,
with the suffix ``.imports``, gets a line for each module before it is imported: the time on the
monotonic clock, and the module's name.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType


def list_benchmarks(suites: str, file: str, modules: Sequence[str]) -> None:
    """Write the benchmarks of modules, such as ``package.module``, or of all, to a file."""
    from asv_runner import discovery  # noqa: PLC0415 - of the environment

    discover_below = discovery.disc_modules
    import_module = importlib.import_module
    imports = Path(file).with_suffix(".imports")

    def import_and_note(name: str, package: str | None = None) -> ModuleType:
        if name.partition(".")[0] == Path(suites).name:
            with imports.open("a", encoding="utf-8") as stream:
                stream.write(f"{time.monotonic()} {name}\n")
        return import_module(name, package)

    importlib.import_module = import_and_note

    def discover(root: str, ignore_import_errors: bool = False) -> Iterator[ModuleType]:
        yield import_module(root)
        for module in modules:
            yield from discover_below(f"{root}.{module}", ignore_import_errors)

    if modules:
        discovery.disc_modules = discover
    discovery._discover((suites, file))


if __name__ == "__main__":
    list_benchmarks(sys.argv[1], sys.argv[2], sys.argv[3:])
