"""Finds which Python files of a checkout import which, from their text."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from asv_watch.files import read_regular


@dataclass
class ImportGraph:
    """Python files by path: who imports them, and which texts the suites among them hold."""

    importers: dict[str, set[str]] = field(default_factory=dict)
    """Path to the paths of the files that import it."""
    texts: dict[str, set[str]] = field(default_factory=dict)
    """Path of a suite to the text constants in it."""

    @classmethod
    def read(cls, root: Path, paths: Iterable[str], package_dir: str, suites: str) -> ImportGraph:
        """Read files, and connect them.

        A text constant of a suite that names a module of the package, such as
        ``"measure.passes"``, counts as an import of it: suites may import by name. A package
        that looks for its own modules (``pkgutil``) imports all of them.

        Args:
            root: the checkout.
            paths: Python files in it; what cannot be parsed is left out.
            package_dir: folder in which the package lies; empty for the checkout itself.
            suites: folder of the suites.
        """
        graph = cls()
        trees: dict[str, ast.Module] = {}
        for path in paths:
            try:
                trees[path] = ast.parse(read_regular(root / path))
            except (OSError, SyntaxError, ValueError):
                continue
        by_name = {name: path for path in trees for name in _names(path, package_dir) if name}
        exports = {
            path: _exports(path, tree, by_name)
            for path, tree in trees.items()
            if PurePosixPath(path).name == "__init__.py"
        }
        for path, tree in trees.items():
            targets: set[str] = set()
            if path.startswith(f"{suites}/"):
                texts = graph.texts[path] = _texts(tree)
                named = {by_name[text] for text in texts if text in by_name}
                targets = {target for target in named if not target.startswith(f"{suites}/")}
            for name in _imported(path, tree):
                targets.update(_files_of(name, by_name, exports))
                if name.partition(".")[0] == "pkgutil":
                    folder = f"{posixpath.dirname(path)}/"
                    targets.update(other for other in trees if other.startswith(folder))
            for target in targets - {path}:
                graph.importers.setdefault(target, set()).add(path)
        return graph


def _texts(tree: ast.Module) -> set[str]:
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _names(path: str, package_dir: str) -> Iterator[str]:
    """List what imports call a file: its dotted name, that below its package, and its path."""
    parts = PurePosixPath(path).with_suffix("").parts
    if package_dir and path.startswith(f"{package_dir}/"):
        parts = parts[len(PurePosixPath(package_dir).parts) :]
    elif parts[0] == "src":
        parts = parts[1:]
    if parts[-1] == "__init__":
        parts = parts[:-1]
    yield ".".join(parts)
    if len(parts) > 1:
        yield ".".join(parts[1:])
    yield PurePosixPath(path).with_suffix("").as_posix().removesuffix("/__init__")


def _imported(path: str, tree: ast.Module) -> Iterator[str]:
    """List what a file imports: dotted names, and paths where the import is relative."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = f"{node.module}."
            if node.level:
                up = "/".join([".."] * (node.level - 1))
                base = posixpath.join(posixpath.dirname(path), up, *(node.module or "").split("."))
                base = f"{posixpath.normpath(base)}/"
            yield from (f"{base}{alias.name}" for alias in node.names)


def _files_of(
    name: str, by_name: dict[str, str], exports: dict[str, dict[str, str]]
) -> Iterator[str]:
    """List the files behind an import: the module, the packages around it, what exports a name."""
    separator = "/" if "/" in name else "."
    parts = name.split(separator)
    for length in range(len(parts), 0, -1):
        path = by_name.get(separator.join(parts[:length]))
        if path is not None:
            yield path
            if length == len(parts) - 1 and parts[-1] in exports.get(path, {}):
                yield exports[path][parts[-1]]


def _exports(path: str, tree: ast.Module, by_name: dict[str, str]) -> dict[str, str]:
    """List what the ``__init__`` of a package imports from its modules: names to files."""
    exported = {}
    for name in _imported(path, tree):
        separator = "/" if "/" in name else "."
        module, _, last = name.rpartition(separator)
        if module in by_name:
            exported[last] = by_name[module]
    return exported
