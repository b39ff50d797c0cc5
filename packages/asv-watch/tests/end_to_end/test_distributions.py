"""What an index shows of asv-watch: its page and licence, and all that the site is made of."""

from __future__ import annotations

import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import asv_watch
from tests.conftest import ROOT

SOURCES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


def test_the_wheel_holds_its_page_its_licence_and_every_source(built: Path) -> None:
    [path] = built.glob("*.whl")
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
    assert described["Version"] == asv_watch.__version__
    assert {name for name in names if ".dist-info/" not in name} == SOURCES


def test_the_source_distribution_holds_the_documents_too(built: Path) -> None:
    [path] = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in SOURCES} <= names
    assert {"README.md", "CHANGELOG.md", "LICENSE", "docs/README.md"} <= names
    assert not [name for name in names if name.startswith((".venv", "node_modules", "tests"))]
