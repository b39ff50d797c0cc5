"""``python -m tools.fault_table``: writes the list of docs/faults.md from marks of tests.

A test of a fault is marked with what goes wrong, what is done meanwhile, and what holds::

    @pytest.mark.fault("disk full", tried="a line is appended", holds="the file is as before")
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "faults.md"
_HEADING = "## What was tried"
_INTRODUCTION = """\
Each link is a test: what it tries, and what holds then. What is not listed was not tried."""


def page(written: str, tests: Path) -> str:
    """Return the page with what each mark of a test below a folder says.

    Args:
        written: The page as it is; what comes before `_HEADING` stays.
        tests: The folder.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        name = path.relative_to(tests.parent).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault":
                    fault, tried, holds = _texts(mark)
                    links = found.setdefault(fault, {}).setdefault(holds, [])
                    links.append(f"[{tried}](../{name})")
    parts = [_INTRODUCTION]
    for fault, listed in sorted(found.items()):
        lines = sorted(f"- {'; '.join(links)}: {holds}" for holds, links in listed.items())
        parts.append("\n".join([f"**{fault.capitalize()}**", *lines]))
    return f"{written.partition(_HEADING)[0]}{_HEADING}\n\n" + "\n\n".join(parts) + "\n"


def _texts(mark: ast.Call) -> list[str]:
    """Return the kind of fault, what is tried, and what holds."""
    [fault] = mark.args
    tried, holds = (keyword.value for keyword in mark.keywords)
    return [ast.literal_eval(text) for text in (fault, tried, holds)]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), ROOT / "tests"), encoding="utf-8")
    print(f"faults written to {PAGE.relative_to(ROOT)}")
