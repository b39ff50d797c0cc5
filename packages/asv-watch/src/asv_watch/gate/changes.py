"""What the diff of a pull request changed: files, functions and names."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from asv_watch.asv.settings import Configuration
from asv_watch.versions.git import ask_git, run_git

_NEVER_MEASURED = re.compile(r"(^|/)(docs?|tests?|\.github)/|\.(md|rst)$")
"""Documentation and tests: not measured in projects that do not list measured paths."""
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@ ?(.*)$", re.M)
WORD = re.compile(r"[A-Za-z_]\w{2,}")
"""A word of a source that may be the name of a changed object."""
_LAST_LINE = 10**9


@dataclass(frozen=True, slots=True)
class Changed:
    """What a diff changed."""

    functions: tuple[tuple[str, int, int], ...]
    """Path, first and last line; the whole file if a change lies outside functions."""
    identifiers: frozenset[str]
    """Names of the functions, in any language; for a special method the name of its class."""
    names: frozenset[str]
    """The same names and those of the files; of files that are not Python also their folders."""
    is_traceable: bool
    """Whether a profile of Python functions sees every change."""


def measured_files(configuration: Configuration, before: str, after: str) -> list[str]:
    """List the files that differ between two commits and can change a measured value.

    If asv.conf.json names no such files, all but documentation and tests count. A file that
    was renamed is listed with both names.

    Raises:
        WatchError: git fails, such as where an object is missing.
    """
    options = ("--name-only", "--no-renames", "-z")
    paths = configuration.measured_paths
    listed = run_git(configuration.repository, "diff", *options, before, after, "--", *paths)
    changed = [path for path in listed.split("\0") if path]
    return changed if paths else [path for path in changed if not _NEVER_MEASURED.search(path)]


def read_changes(repository: Path, before: str, after: str, paths: Sequence[str]) -> Changed:
    """Read which functions of some files differ between two commits."""
    functions: dict[tuple[str, int, int], None] = {}
    names = {PurePosixPath(path).stem for path in paths}
    identifiers: set[str] = set()
    is_traceable = True
    for path in paths:
        spec = f":(top,literal){path}"
        diff = run_git(
            repository, "diff", "-U0", "--no-renames", "--no-ext-diff", before, after, "--", spec
        )
        is_there = ask_git(repository, "cat-file", "-t", f"{after}:{path}")
        text = run_git(repository, "show", f"{after}:{path}") if is_there else ""
        known = _functions(text) if path.endswith(".py") else None
        if known is None:
            names.update(PurePosixPath(path).parts[:-1])
        for first, count, context in _HUNK.findall(diff):
            if known is None:
                identifiers.update(WORD.findall(context))
                is_traceable = False
                continue
            for line in _lines(text, int(first), int(count or 1)):
                inside = [function for function in known if function[1] <= line <= function[2]]
                name, start, end = max(
                    inside, key=lambda function: function[1], default=("", 1, _LAST_LINE)
                )
                functions[path, start, end] = None
                identifiers.update(filter(None, [name]))
                is_traceable &= bool(name)
    return Changed(
        tuple(functions), frozenset(identifiers), frozenset(names | identifiers), is_traceable
    )


def _functions(text: str) -> list[tuple[str, int, int]]:
    """List the functions of a file: identifier, first and last line, decorators included."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    class_of_method = {
        id(method): owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for method in owner.body
        if isinstance(method, ast.FunctionDef) and method.name.startswith("__")
    }
    return [
        (
            class_of_method.get(id(node), node.name),
            min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
            node.end_lineno or node.lineno,
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _lines(text: str, first: int, count: int) -> Iterator[int]:
    """Yield the numbers of a hunk's lines of code; after a removal, the line before it."""
    if not count:
        yield max(first, 1)
    for number, line in enumerate(text.splitlines()[first - 1 : first - 1 + count], start=first):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number
