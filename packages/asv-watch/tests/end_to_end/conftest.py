"""What an index would be given: a wheel and a source distribution, made once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder
