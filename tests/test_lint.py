"""Style and types, checked beside the other tests: `make lint` alone would leave a core idle."""

import os

import pytest

from tests.conftest import ROOT, run


@pytest.mark.timeout(900)
def test_linters_and_type_checkers_find_nothing() -> None:
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    run("make", "--no-print-directory", "lint", cwd=ROOT, env=environment)
