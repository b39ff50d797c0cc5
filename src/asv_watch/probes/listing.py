"""Lists the benchmarks of a folder of suites, or of some of its modules, as asv's script does.

Runs as a script in the environment that is measured, ``python -P listing.py <folder of suites>
<file> [module]...``; it needs nothing of this package. The file gets a JSON list of them. Where
modules are named, no other is imported: a suite may take half a minute to import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType


def list_benchmarks(suites: str, file: str, modules: Sequence[str]) -> None:
    """Write the benchmarks of modules, such as ``package.module``, or of all, to a file."""
    from asv_runner import discovery  # noqa: PLC0415 - of the environment

    discover_below = discovery.disc_modules

    def discover(root: str, ignore_import_errors: bool = False) -> Iterator[ModuleType]:
        yield import_module(root)
        for module in modules:
            yield from discover_below(f"{root}.{module}", ignore_import_errors)

    if modules:
        discovery.disc_modules = discover
    discovery._discover((suites, file))


if __name__ == "__main__":
    list_benchmarks(sys.argv[1], sys.argv[2], sys.argv[3:])
