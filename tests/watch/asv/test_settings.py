"""What asv.conf.json wants and this machine lacks is said in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.watch.asv.project import CONFIGURATION
from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.settings import read_configuration


def test_a_project_that_needs_conda_is_refused_where_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = CONFIGURATION | {"environment_type": "conda"}
    (tmp_path / "asv.conf.json").write_text(json.dumps(settings))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CONDA_EXE", raising=False)
    with pytest.raises(TorchspeedError, match="made by conda, which is neither on the PATH"):
        read_configuration(tmp_path)
