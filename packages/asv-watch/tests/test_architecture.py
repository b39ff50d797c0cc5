"""Imports go in the directions that the tree promises."""

import os
import sys

from tests.conftest import ROOT, run


def test_imports_go_in_the_allowed_directions() -> None:
    code = "import importlinter.cli, sys; sys.exit(importlinter.cli.lint_imports())"
    path = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    assert "0 broken" in run(sys.executable, "-c", code, cwd=ROOT, env=path).stdout
