"""Joins the modules of the page's script into one classic script, and the parts of its style.

Browsers refuse modules on ``file://``, so the published page loads a single classic script. The
sources are ES modules, which editors, tsc and eslint understand. Joining needs no tool: each
module becomes a function that returns its exports, in the order in which modules need each other.
Only named imports of relative paths and named exports are understood; eslint forbids the rest.
Documentation comments stay in the sources: they are half of the text, and serve no reader of the
page.
"""

import os
import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|let|class) (\w+)", re.MULTILINE)
_DOCUMENTATION = re.compile(r"^ */\*\*[^*]*(?:\*(?!/)[^*]*)*\*/\n", re.MULTILINE)
_LEFT = re.compile(r"^(import|export)\b.*", re.MULTILINE)

# In the order of the cascade: what a later part says of the same element wins.
_PARTS = ("colours", "page", "head", "fields", "tables", "charts", "overview", "screens")
_COMMENT_OR_INDENT = re.compile(r"/\*.*?\*/\n?|^ +|^\n", re.MULTILINE | re.DOTALL)


def _order(entry: str, finished: dict[str, str], open_modules: tuple[str, ...] = ()) -> None:
    if entry in finished:
        return
    if entry in open_modules:
        circle = " -> ".join(map(os.path.basename, (*open_modules, entry)))
        raise ValueError(f"modules of the page's script import each other in a circle: {circle}")
    text = Path(entry).read_text(encoding="utf-8")
    for _, path in _IMPORT.findall(text):
        _order(_imported(entry, path), finished, (*open_modules, entry))
    finished[entry] = text


def _imported(module: str, path: str) -> str:
    return os.path.normpath(f"{os.path.dirname(module)}/{path}")


def _as_function(module: str, text: str, names: dict[str, str]) -> str:
    def rebound(statement: re.Match[str]) -> str:
        wanted = [name.strip() for name in statement[1].split(",") if name.strip()]
        return f"const {{ {', '.join(wanted)} }} = {names[_imported(module, statement[2])]};\n"

    text = _IMPORT.sub(rebound, text)
    exported = [name for _, name in _EXPORT.findall(text)]
    text = _DOCUMENTATION.sub("", _EXPORT.sub(r"\1 \2", text))
    if left := _LEFT.search(text):
        raise ValueError(f"{module}: {left[0]!r} is not a named import or export")
    return (
        f"const {names[module]} = (function () {{\n"
        f"{text}return {{ {', '.join(exported)} }};\n}})();\n"
    )


def bundle(entry: Path) -> str:
    """Return one classic script that runs the module `entry` and all that it imports.

    Raises:
        ValueError: If modules import each other in a circle, or one uses a form of import or
            export that is not understood.
    """
    modules: dict[str, str] = {}
    first = os.path.realpath(entry)
    _order(first, modules)
    folder = os.path.dirname(first)
    names = {
        module: "$" + re.sub(r"\W", "_", os.path.relpath(module, folder)) for module in modules
    }
    parts = [_as_function(module, text, names) for module, text in modules.items()]
    return '(function () {\n"use strict";\n' + "".join(parts) + "})();\n"


def stylesheet(folder: Path) -> str:
    """Return the parts in `folder` as one stylesheet, without comments and indentation."""
    parts = [(folder / f"{name}.css").read_text(encoding="utf-8") for name in _PARTS]
    return _COMMENT_OR_INDENT.sub("", "".join(parts))
