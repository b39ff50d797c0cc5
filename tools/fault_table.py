"""``python -m tools.fault_table``: writes the list of docs/faults.md from marks of tests.

The first test of a fault in a file is marked with its kind and with what is tried. What holds is
what the kind promises; a test that holds something else says so::

    @pytest.mark.fault("disks and power", tried="no room for a case")
    @pytest.mark.fault("damaged files", tried="a missing object of git", holds="the gate fails")
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "faults.md"
_HEADING = "## What was tried"
_INTRODUCTION = """\
Each link is a test. What is not listed was not tried."""
_PROMISES = {
    "bad commits and package index": "Only what is at fault counts as failed.",
    "clocks": "Results are read and judged as if the clock were right.",
    "damaged files": "The file is named, and sound results are kept and used.",
    "disks and power": "What was stored stays.",
    "hostile benchmarks": "The case is stored as failed, and the others are measured.",
    "hostile pull requests": "The gate believes its own settings alone, and shows texts as code.",
    "hostile results": "They are refused before anything is written.",
    "hostile text": "It is shown as text everywhere.",
    "kills": "No finished case is lost, no process is left, and the same command goes on.",
    "limits of a machine": "The case fails, and the others are measured. What the whole "
    "machine lacks ends the run.",
    "random damage": "The file is read, or refused in one line.",
    "two runs or users": "The second one names the first, and writes nothing.",
    "wrong configurations and requests": "One line names the mistake.",
}
"""Maps a kind of fault to what holds in its tests."""


def page(written: str, tests: Path) -> str:
    """Return the page with the faults that are marked in the tests of a folder.

    Args:
        written: The page as it is; what comes before `_HEADING` stays.
        tests: The folder.

    Raises:
        ValueError: A mark names a kind that `_PROMISES` does not have.
    """
    found: dict[str, set[str]] = {kind: set() for kind in _PROMISES}
    for path in sorted(tests.rglob("test_*.py")):
        name = path.relative_to(tests.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault":
                    kind, tried, *holds = _texts(mark)
                    if kind not in found:
                        raise ValueError(f"{name}: {kind!r} is none of {', '.join(found)}")
                    answer = f" ({holds[0]})" if holds else ""
                    found[kind].add(f"[{tried}](../{name}){answer}")
    parts = [_INTRODUCTION]
    for kind, links in found.items():
        tried_here = ";\n".join(sorted(links))
        parts.append(f"**{kind.capitalize()}.** {_PROMISES[kind]}\n{tried_here}.")
    return f"{written.partition(_HEADING)[0]}{_HEADING}\n\n" + "\n\n".join(parts) + "\n"


def _texts(mark: ast.Call) -> list[str]:
    """Return the kind of fault, what is tried, and what holds if that is not the promise."""
    values = [*mark.args, *(keyword.value for keyword in mark.keywords)]
    return [ast.literal_eval(text) for text in values]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), ROOT / "tests"), encoding="utf-8")
    print(f"faults written to {PAGE.relative_to(ROOT)}")
