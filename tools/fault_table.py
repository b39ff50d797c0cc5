"""``python -m tools.fault_table``: writes docs/faults.md, a row for each test of a fault.

A test of a fault is marked with what goes wrong, what is done meanwhile, and what holds::

    @pytest.mark.fault("disk full", tried="a line is appended", holds="the file is as before")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "faults.md"
MARKER = "fault"
_INTRODUCTION = """\
# Faults

```sh
python -m tools.fault_table
```

```text
{count} faults written to docs/faults.md
```

What was tried against both packages, and what holds. Each row is a test, from which the command
above writes this page. What no row lists was not tried. Random damage was tried for an hour on
2026-11-23, some 30,000 times; `FUZZ_EXAMPLES=5000 python -m pytest tests/asv_watch/fuzz` goes on.

"""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """What one test holds."""

    fault: str
    tried: str
    holds: str
    test: str
    """File and name."""


def faults(tests: Path) -> Iterator[Fault]:
    """Read the marks of all tests below a folder."""
    for path in sorted(tests.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for call in filter(_is_mark, node.decorator_list):
                    yield _fault(call, path.relative_to(tests.parent), node.name)


def page(tests: Path) -> str:
    """Return the page of the faults that tests hold."""
    rows = [
        f"| {fault.fault} | {fault.tried} | {fault.holds} | [test](../{fault.test}) |"
        for fault in sorted(faults(tests))
    ]
    head = ["| fault | tried | holds | test |", "|---|---|---|---|"]
    return _INTRODUCTION.format(count=len(rows)) + "\n".join([*head, *rows]) + "\n"


def _is_mark(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).startswith(f"pytest.mark.{MARKER}(")


def _fault(call: ast.expr, path: Path, name: str) -> Fault:
    """Read one mark.

    Raises:
        ValueError: It does not give its three texts.
    """
    texts = {}
    if isinstance(call, ast.Call):
        texts = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        texts |= dict(zip(["fault"], map(ast.literal_eval, call.args), strict=False))
    if texts.keys() != {"fault", "tried", "holds"}:
        raise ValueError(f"{path}, {name}: give the fault, tried= and holds=")
    return Fault(texts["fault"], texts["tried"], texts["holds"], path.as_posix())


if __name__ == "__main__":
    PAGE.write_text(page(ROOT / "tests"), encoding="utf-8")
    print(f"{len(list(faults(ROOT / 'tests')))} faults written to {PAGE.relative_to(ROOT)}")
