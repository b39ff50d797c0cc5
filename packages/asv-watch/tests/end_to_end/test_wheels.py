"""The wheel holds all that an index shows, and watches a project that knows no torch."""

import json
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable
from email import message_from_bytes
from pathlib import Path

import pytest

import asv_watch
from tests.clockwork import SUITE, package
from tests.conftest import ROOT, commit, git, run
from tests.tables import ratio_of, rows_of
from tests.torchless import BUILD, BUILT


@pytest.fixture(scope="session")
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
    assert {"README.md", "CHANGELOG.md", "LICENSE", "docs/answers.md"} <= names
    assert not [name for name in names if name.startswith((".venv", "node_modules", "tests"))]


def _done(*command: str | Path, cwd: Path) -> str:
    """Run a command that imports nothing of the checkout; return what it prints."""
    variables = {"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": "", "PIP_NO_COMPILE": "0"}
    done = run(*command, cwd=cwd, env=os.environ | variables)
    return done.stdout + done.stderr


def _install(folder: Path, wheel: Path) -> Path:
    """Install a wheel into an empty environment; return its bin."""
    folder.mkdir()
    _done(sys.executable, "-m", "venv", "--without-pip", "env", cwd=folder)
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", "env/bin/python"]
    _done(*pip, "install", wheel, cwd=folder)
    return folder / "env/bin"


pytestmark = pytest.mark.timeout(900)  # what the wheels require is downloaded


@pytest.fixture
def project(make_repository: Callable[..., Path]) -> Path:
    """Two commits of a package that lies beside its suites; the second does more work.

    The first is built with a package that the second, which is checked out, does without.
    """
    pip = "python -m pip wheel --no-deps --no-build-isolation -w {build_cache_dir} {build_dir}"
    root = make_repository(
        {
            "asv.conf.json": json.dumps(BUILT | {"build_command": [pip]}),
            "benchmarks/__init__.py": "",
            "benchmarks/suite.py": SUITE,
            "package.py": package(),
            "pyproject.toml": BUILD["pyproject.toml"].replace("[]", '["flit-core"]'),
            "backend.py": "import flit_core\n" + BUILD["backend.py"],
            ".gitignore": ".asv/\nresults/\nhtml/\n",
        }
    )
    commit(root, {"package.py": package(slow=0.0016), **BUILD}, "Do more in one case")
    return root


def test_the_wheel_of_the_watcher_watches_a_project_where_there_is_no_torch(
    project: Path, built: Path, tmp_path: Path
) -> None:
    programs = _install(tmp_path / "watcher", *built.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    listed = _done(*pip, "list", cwd=project)
    assert not re.search(r"^torch", listed, re.MULTILINE)

    def watch(*arguments: str) -> str:
        printed = _done(programs / "asv-watch", *arguments, cwd=project)
        assert "torch" not in printed
        return printed

    where = ("--machine", "m")
    printed = watch("compare", *where, "--before", "HEAD~1", "--cases", "")
    (name, slow), (_, plain) = rows_of(printed).items()
    assert ("slow" in name, slow[-1], plain[-1]) == (True, "slower", "same")
    assert 1.55 < ratio_of(slow[2]) < 1.65
    # What slowed down would be confirmed and explained as well, which others test.
    printed = watch("nightly", *where, "--budget", "20min", "--cases", "plain")
    assert "nothing is left to be done tonight" in printed
    measured = {path.name[:8] for path in (project / "results/m").glob("*-*.json")}
    assert measured == {commit[:8] for commit in git(project, "rev-list", "HEAD").split()}
    assert "plain" in (project / "html/index.html").read_text()
    assert watch("report")
