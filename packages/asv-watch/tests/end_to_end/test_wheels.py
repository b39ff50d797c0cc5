"""The wheel holds all that an index shows, and watches a project that knows no torch."""

import os
import sys
import tarfile
import zipfile
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path

import pytest

import asv_watch
from tests.clockwork import SUITE, package
from tests.conftest import ROOT, commit, run
from tests.tables import ratio_of, rows_of


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


SOURCES = {
    path.relative_to(ROOT / "src").as_posix()
    for path in (ROOT / "src").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
}


def test_the_wheel_holds_its_page_its_licence_and_every_source(built: Path) -> None:
    [path] = built.glob("*.whl")
    info = f"asv_watch-{asv_watch.__version__}.dist-info"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        described = message_from_bytes(wheel.read(f"{info}/METADATA"))
        licence = wheel.read(f"{info}/licenses/LICENSE")
    assert licence == (ROOT / "LICENSE").read_bytes()
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert str(described.get_payload()).strip() == page.strip()
    assert described["Description-Content-Type"] == "text/markdown"
    assert described["Version"] == asv_watch.__version__
    assert {name for name in names if not name.startswith(info)} == SOURCES


def test_the_source_distribution_holds_the_documents_too(built: Path) -> None:
    [path] = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in SOURCES} <= names
    assert {"README.md", "CHANGELOG.md", "LICENSE", "docs/answers.md"} <= names
    assert not [name for name in names if name.startswith((".venv", "node_modules", "tests"))]


@pytest.mark.timeout(900)  # what the wheel requires is downloaded
def test_the_wheel_of_the_watcher_watches_a_project_where_there_is_no_torch(
    make_project: Callable[..., Path], built: Path, tmp_path: Path
) -> None:
    project = make_project(SUITE, {"src/package.py": package()})
    commit(project, {"src/package.py": package(slow=0.0016)}, "Do more in one case")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    programs = tmp_path / "env/bin"
    pip = sys.executable, "-m", "pip", "--quiet", "--python", programs / "python"
    run(*pip, "install", *built.glob("*.whl"), env=os.environ | {"PIP_NO_COMPILE": "0"})

    def watch(*arguments: str) -> str:
        """Run a command that imports nothing of the checkout; return what it prints."""
        variables = os.environ | {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": ""}
        done = run(programs / "asv-watch", *arguments, cwd=project, env=variables)
        assert "torch" not in done.stdout + done.stderr
        return done.stdout

    assert not list(programs.parent.glob("lib/python*/site-packages/torch*"))
    printed = watch("compare", "--machine", "m", "--before", "HEAD~1", "--cases", "")
    (name, slow), (_, plain) = rows_of(printed).items()
    assert ("slow" in name, slow[-1], plain[-1]) == (True, "slower", "same")
    assert 1.55 < ratio_of(slow[2]) < 1.65
    # What slowed down would be confirmed and explained as well, which others test.
    printed = watch("nightly", "--machine", "m", "--budget", "20min", "--cases", "plain")
    assert "nothing is left to be done tonight" in printed
    assert "plain" in (project / "html/index.html").read_text()
    assert watch("report")
