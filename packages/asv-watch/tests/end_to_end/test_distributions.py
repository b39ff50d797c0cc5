"""What an index shows of asv-watch by itself: its own page and its licence."""

from __future__ import annotations

import shutil
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

from tests.conftest import ROOT, run


def test_the_wheel_holds_its_page_and_its_licence(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "source/src")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / "source")
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps"]
    run(*pip, "--wheel-dir", str(tmp_path), "./source", cwd=tmp_path)
    [path] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        [metadata] = [name for name in names if name.endswith("dist-info/METADATA")]
        [licence] = [name for name in names if name.endswith("LICENSE")]
        described = message_from_bytes(wheel.read(metadata))
        assert wheel.read(licence) == (ROOT / "LICENSE").read_bytes()
    assert ".dist-info/" in licence
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert str(described.get_payload()).strip() == page.strip()
    assert described["Description-Content-Type"] == "text/markdown"
    assert "asv_watch/README.md" not in names
