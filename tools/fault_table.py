"""``python -m tools.fault_table``: writes docs/faults.md, a row for each test of a fault.

A test of a fault is marked with what goes wrong, what is done meanwhile, and what holds::

    @pytest.mark.fault("disk full", tried="a line is appended", holds="the file is as before")
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "faults.md"
_INTRODUCTION = """\
# Faults

```sh
python -m tools.fault_table
```

```text
faults written to docs/faults.md
```

What was tried against both packages, and what holds. Each row is a test, from which the command
above writes this page. What no row lists was not tried. Random damage was tried for an hour on
2026-11-23, some 30,000 times; `FUZZ_EXAMPLES=5000 python -m pytest tests/asv_watch/fuzz` goes on.

"""


def page(tests: Path) -> str:
    """Return the page of the faults that the marks of all tests below a folder name."""
    rows = [
        f"| {' | '.join(_texts(mark))} | [test](../{path.relative_to(tests.parent).as_posix()}) |"
        for path in sorted(tests.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault"
    ]
    head = ["| fault | tried | holds | test |", "|---|---|---|---|"]
    return _INTRODUCTION + "\n".join([*head, *sorted(rows)]) + "\n"


def _texts(mark: ast.Call) -> list[str]:
    """Return what goes wrong, what is done meanwhile, and what holds."""
    [fault] = mark.args
    tried, holds = (keyword.value for keyword in mark.keywords)
    return [ast.literal_eval(text) for text in (fault, tried, holds)]


if __name__ == "__main__":
    PAGE.write_text(page(ROOT / "tests"), encoding="utf-8")
    print(f"faults written to {PAGE.relative_to(ROOT)}")
