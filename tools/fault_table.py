"""``python -m tools.fault_table``: writes the table of docs/faults.md, a row a test of a fault.

A test of a fault is marked with what goes wrong, what is done meanwhile, and what holds::

    @pytest.mark.fault("disk full", tried="a line is appended", holds="the file is as before")
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "faults.md"
_HEAD = ["| fault | tried | holds | test |", "|---|---|---|---|"]


def page(written: str, tests: Path) -> str:
    """Return the page with a row for each mark of a test below a folder.

    Args:
        written: The page as it is; what comes before the table stays.
        tests: The folder.
    """
    rows = [
        f"| {' | '.join(_texts(mark))} | [test](../{path.relative_to(tests.parent).as_posix()}) |"
        for path in sorted(tests.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault"
    ]
    return written.partition(_HEAD[0])[0] + "\n".join([*_HEAD, *sorted(rows)]) + "\n"


def _texts(mark: ast.Call) -> list[str]:
    """Return what goes wrong, what is done meanwhile, and what holds."""
    [fault] = mark.args
    tried, holds = (keyword.value for keyword in mark.keywords)
    return [ast.literal_eval(text) for text in (fault, tried, holds)]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), ROOT / "tests"), encoding="utf-8")
    print(f"faults written to {PAGE.relative_to(ROOT)}")
