"""Finds the modules of the suites that hold the cases a pattern selects, from their source.

Importing a module may take half a minute, so a listing imports only these. If the pattern does not
begin with the name of a module, any module may have matching cases.
"""

from __future__ import annotations

import re
from pathlib import Path

_FIRST_NAME = re.compile(
    r"(?P<anchor>\^?)(?P<name>[A-Za-z_]\w*)(?P<dot>\\?\.(?![*+?{]))?(?P<next>.?)"
)


def modules_of(suites: Path, pattern: str) -> list[str]:
    """Return the modules that a pattern names, such as ``package.module``; empty for all of them.

    ``indexing.Indexing`` names module ``indexing``, and each module whose source has a word
    that ends in ``indexing``, because a class of that name would match too. ``^plain`` names
    ``plain`` and ``plain_compiled``.
    """
    match = _FIRST_NAME.match(pattern)
    if match is None or match["next"] in {"*", "+", "?", "{"} or _has_alternatives(pattern):
        return []
    name, files = match["name"], _modules(suites)
    if match["anchor"]:
        tops = {module: module.partition(".")[0] for module in files}
        named = [
            module
            for module, top in tops.items()
            if (top == name if match["dot"] else top.startswith(name))
        ]
    elif match["dot"] and any(module.rpartition(".")[2] == name for module in files):
        word = re.compile(rf"\w*{name}\b")
        named = [
            module
            for module, file in files.items()
            if module.rpartition(".")[2].endswith(name)
            or word.search(file.read_text(encoding="utf-8", errors="replace"))
        ]
    else:
        named = []
    named = [module for module in named if not _parents(module) & set(named)]
    return named if named and len(named) < len(files) else []


def _parents(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:count]) for count in range(1, len(parts))}


def _modules(suites: Path) -> dict[str, Path]:
    files = {file.relative_to(suites).with_suffix(""): file for file in suites.rglob("*.py")}
    modules = {
        ".".join(path.parent.parts if path.name == "__init__" else path.parts): file
        for path, file in sorted(files.items())
    }
    modules.pop("", None)  # the folder itself, which is imported in any case
    return modules


def _has_alternatives(pattern: str) -> bool:
    without_escapes = re.sub(r"\\.|\[[^\]]*\]", "", pattern)
    depth = 0
    for character in without_escapes:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            return True
    return False
