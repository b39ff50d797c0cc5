"""Which cases a diff can have made slower.

A changed file touches cases by these rules (docs/pull-requests.md explains them):

1. A file outside ``"measured_paths"`` of asv.conf.json touches none. Where asv.conf.json has no
   such list, documentation and tests touch none.
2. A suite touches its own cases.
3. A Python file whose name is a value of a parameter (``darnn.py``, and ``'darnn'`` or
   ``'darnn_solar'``) touches the cases with that value, and benchmarks without such a parameter
   whose suite has that name in its text. The ``__init__`` of a package, which imports all such
   files, is then not followed.
4. A file also touches what the files that import it touch.
5. A file touches all cases if no suite imports it, if it was removed, or if it is not Python.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from asv_watch.asv.settings import Configuration
from asv_watch.gate.imports import ImportGraph
from asv_watch.interleave.processes import TimedCase
from asv_watch.records.git import run_git

_NEVER_MEASURED = re.compile(r"(^|/)(docs?|tests?|\.github)/|\.(md|rst)$")
"""Documentation and tests, of projects that do not list what is measured."""


def changed_files(root: Path, before: str, after: str) -> list[str]:
    """List the paths that two commits differ in, both names of a file that was renamed.

    Raises:
        WatchError: git fails, such as where an object is missing.
    """
    listed = run_git(root, "diff", "--name-only", "--no-renames", "-z", before, after)
    return [path for path in listed.split("\0") if path]


def touched_cases(
    root: Path, configuration: Configuration, changed: Sequence[str], cases: Sequence[TimedCase]
) -> list[TimedCase]:
    """List the cases that changed files can affect, in their order.

    Args:
        root: folder of asv.conf.json, in a checkout whose files are read to find what imports
            what.
        configuration: what asv.conf.json says of it.
        changed: paths of the changed files, from the top of the checkout.
        cases: those to choose from.
    """
    if configuration.repository != root:  # the suites are elsewhere: what they import is not read
        return list(cases) if any(_is_measured(path, ()) for path in changed) else []
    top = Path(run_git(root, "rev-parse", "--show-toplevel").rstrip("\n"))
    here = root.resolve().relative_to(top.resolve())
    measured_paths = [(here / path).as_posix() for path in configuration.declared.measured_paths]
    relevant = [path for path in changed if _is_measured(path, measured_paths)]
    if not relevant:
        return []
    tracked = run_git(top, "ls-files", "-z", "*.py").split("\0")
    measured = [path for path in tracked if path and _is_measured(path, measured_paths)]
    suites = (here / configuration.suites.relative_to(root)).as_posix()
    package = (here / configuration.package).as_posix() if configuration.package else ""
    graph = ImportGraph.read(top, measured, package, suites)
    touches = _Touches(graph, suites, cases)
    touched: set[str] = set()
    for path in relevant:
        names = touches.by_file(path)
        if not names:
            return list(cases)
        touched |= names
    return [case for case in cases if case.name in touched]


def _is_measured(path: str, measured_paths: Sequence[str]) -> bool:
    if not measured_paths:
        return not _NEVER_MEASURED.search(path)
    return any(path == measured or path.startswith(f"{measured}/") for measured in measured_paths)


class _Touches:
    """Finds the cases that a file touches."""

    def __init__(self, graph: ImportGraph, suites: str, cases: Sequence[TimedCase]) -> None:
        self._graph = graph
        self._suites = suites
        self._values = {case.name: _texts(case.name) for case in cases}

    def by_file(self, changed: str) -> set[str]:
        """Return the names of the cases; none where nothing is known of the file."""
        touched: set[str] = set()
        seen, waiting = {changed}, [changed]
        while waiting:
            path = waiting.pop()
            own = self._of_suite(path) or self._of_value(PurePosixPath(path).stem)
            touched |= own
            for importer in self._graph.importers.get(path, set()) - seen:
                if not own or PurePosixPath(importer).name != "__init__.py":
                    seen.add(importer)
                    waiting.append(importer)
        return touched

    def _of_suite(self, path: str) -> set[str]:
        if not path.startswith(f"{self._suites}/"):
            return set()
        module = path.removeprefix(f"{self._suites}/").removesuffix(".py").replace("/", ".")
        return {name for name in self._values if name.startswith(f"{module}.")}

    def _of_value(self, stem: str) -> set[str]:
        """Return the cases with a parameter that names a file.

        Of suites that name it in their text also the benchmarks that have no such parameter.
        """
        own = {
            name
            for name, values in self._values.items()
            if any(value == stem or value.startswith(f"{stem}_") for value in values)
        }
        if own:
            chosen = {name.partition("(")[0] for name in own}
            for path, texts in self._graph.texts.items():
                if stem in texts:
                    suite = self._of_suite(path)
                    own |= {name for name in suite if name.partition("(")[0] not in chosen}
        return own


def _texts(case: str) -> list[str]:
    """List the parameters of a case that are texts: ``['darnn', 'cpu']``."""
    try:
        values = ast.literal_eval(f"[{case.partition('(')[2].removesuffix(')')}]")
    except (SyntaxError, ValueError):
        return []
    return [value for value in values if isinstance(value, str)]
