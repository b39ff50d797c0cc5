"""What the page loads: data, one script of its own, and one style.

A page opened from disk may neither fetch nor load modules, and a strict content-security policy
forbids inline scripts. So each data file is a script that calls one function, with text from
outside made safe, and the page's own modules, which editors, tsc and eslint understand, are joined
into one classic script. Joining needs no tool: each module becomes a function that returns its
exports, in the order in which modules need each other. Only named imports of relative paths and
named exports are understood; eslint forbids the rest. Documentation comments stay in the sources:
they are half of the text, and serve no reader of the page.
"""

import json
import os
import re
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import msgspec

# JSON is not a subset of script source: `</script>`, `<!--` and the two line
# separators of Unicode mean something there. Inside a JSON string each may be
# written as an escape, and outside strings none of them occurs.
_ESCAPES = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    ("\u2028".encode(), b"\\u2028"),
    ("\u2029".encode(), b"\\u2029"),
)

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|const|let|class) (\w+)", re.MULTILINE)
_DOCUMENTATION = re.compile(r"^ */\*\*[^*]*(?:\*(?!/)[^*]*)*\*/\n", re.MULTILINE)
_LEFT = re.compile(r"^(import|export)\b.*", re.MULTILINE)

# In the order of the cascade: what a later part says of the same element wins.
_PARTS = ("colours", "page", "head", "fields", "tables", "charts", "overview", "screens")
_COMMENT_OR_INDENT = re.compile(r"/\*.*?\*/\n?|^ +|^\n", re.MULTILINE | re.DOTALL)


def json_bytes(data: Any) -> bytes:
    """Write `data` as JSON that is safe inside a script; non-finite numbers become null.

    Text that is not valid Unicode (a lone surrogate of an undecodable commit
    message) is replaced character by character.
    """
    try:
        text = msgspec.json.encode(data)
    except UnicodeEncodeError:
        written = json.dumps(msgspec.to_builtins(data), ensure_ascii=False)
        text = msgspec.json.encode(json.loads(written.encode("utf-8", "replace")))
    for plain, escaped in _ESCAPES:
        text = text.replace(plain, escaped)
    return text


def write_script(site: Path, name: str, data: Any) -> bytes:
    """Write the script that registers `data` below ``data`` of a site; return the data as JSON."""
    path = site / "data" / f"{name}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json_bytes(data)
    path.write_bytes(b"asvWatch.register(" + json_bytes(name) + b"," + content + b");\n")
    return content


def shortened(value: float, significant: int = 5) -> float:
    """Round a value: further digits only show noise. A ratio has 7: it is rounded once more."""
    return float(f"{value:.{significant}g}")


def shortened_ends(interval: tuple[float, float]) -> tuple[float, float]:
    """Round both ends of an interval as `shortened` does a ratio."""
    return shortened(interval[0], 7), shortened(interval[1], 7)


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
    texts: dict[str, str] = {}
    imports: dict[str, list[str]] = {}
    found = [os.path.realpath(entry)]
    for module in found:  # it grows
        if module not in texts:
            texts[module] = Path(module).read_text(encoding="utf-8")
            paths = [path for _, path in _IMPORT.findall(texts[module])]
            imports[module] = [_imported(module, path) for path in paths]
            found += imports[module]
    folder = os.path.dirname(found[0])
    names = {module: "$" + re.sub(r"\W", "_", os.path.relpath(module, folder)) for module in texts}
    needed_first = TopologicalSorter(imports).static_order()
    parts = [_as_function(module, texts[module], names) for module in needed_first]
    return '(function () {\n"use strict";\n' + "".join(parts) + "})();\n"


def stylesheet(folder: Path) -> str:
    """Return the parts in `folder` as one stylesheet, without comments and indentation."""
    parts = [(folder / f"{name}.css").read_text(encoding="utf-8") for name in _PARTS]
    return _COMMENT_OR_INDENT.sub("", "".join(parts))
