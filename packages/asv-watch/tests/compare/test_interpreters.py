"""`asv-watch compare --python A B`: what is installed is compared, and nothing is made."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clockwork import timed
from tests.conftest import commit, git
from tests.interruptible import run_driver
from tests.stored import result_file, stored_comparisons
from tests.torchless import CONFIGURATION, INSTALLED, make_interpreter, project_files

SUITE = "import engine\n" + timed("engine.SECONDS")


@pytest.fixture
def project(make_repository: Callable[..., Path]) -> Path:
    return make_repository(project_files(SUITE, **INSTALLED))


def test_three_interpreters_are_compared_each_with_the_next(project: Path, tmp_path: Path) -> None:
    pythons = [
        make_interpreter(tmp_path / f"env{number}", f"{number}.0", seconds)
        for number, seconds in enumerate((0.001, 0.0013, 0.0013), start=1)
    ]
    output, _ = run_driver("compare", project, tmp_path, "--python", *pythons)
    assert output.count("1 slower, 0 faster, 0 same") == 2, "1.0 to 2.0, and 1.0 to 3.0"
    assert output.count("0 slower, 0 faster, 1 same") == 1
    [comparison] = stored_comparisons(project)
    sitting = comparison.sitting
    releases = [str(version.release) for version in sitting.versions]
    assert releases == ["engine 1.0", "engine 2.0", "engine 3.0"]
    assert (sitting.kind, sitting.requirement) == ("release", "engine")
    assert not list(project.glob(".asv/env/*/bin")), "no environment is made"


def test_what_cannot_measure_is_named(project: Path, tmp_path: Path) -> None:
    good = make_interpreter(tmp_path / "good", "1.0", 0.001)
    bare = make_interpreter(tmp_path / "bare", "1.0", 0.001, runner=False)
    for other, message in (
        ("missing/python", "is no Python that runs here"),
        (bare, "needs asv_runner 0.3.2 to be measured"),
    ):
        _, errors = run_driver("compare", project, tmp_path, "--python", good, other, status=1)
        assert message in errors
        assert errors.count("\n") == 1


@pytest.mark.parametrize("how", ["settings", "-E", "--python"])
def test_asvs_own_existing_environment_is_measured(
    make_repository: Callable[..., Path], tmp_path: Path, how: str
) -> None:
    python = make_interpreter(tmp_path / "env", "1.1", 0.001)
    matrix = {"env_nobuild": {"OMP_NUM_THREADS": ["1"]}, "req": {"engine": ["1.0"], "other": []}}
    existing = f"existing:{python}"
    options = {"settings": (), "-E": ("-E", existing), "--python": ("--python", python)}[how]
    kind = existing if how == "settings" else "virtualenv"
    project = make_repository(project_files(SUITE, environment_type=kind, matrix=matrix))
    output, _ = run_driver("bench", project, tmp_path, *options)
    assert "1 ok" in output
    content = json.loads(result_file(project).read_text())
    assert content["commit_hash"] == git(project, "rev-parse", "HEAD")
    assert content["env_vars"] == {"OMP_NUM_THREADS": "1"}, "as environments of asv's have it"
    assert content["requirements"] == {"engine": "1.1"}, "what is installed there"
    assert [content["python"]] == CONFIGURATION["pythons"]


def _two_commits(make_repository: Callable[..., Path], file: str) -> Path:
    settings = {"project": "engine", "measured_paths": [file], **INSTALLED}
    project = make_repository(project_files(SUITE, {file: "SECONDS = 0.001"}, **settings))
    commit(project, {file: "SECONDS = 0.0013"}, "Be slower")
    return project


def test_one_interpreter_measures_two_commits(
    make_repository: Callable[..., Path], tmp_path: Path
) -> None:
    project = _two_commits(make_repository, "src/engine.py")
    python = make_interpreter(tmp_path / "env", "1.1", 0.001)
    output, _ = run_driver("compare", project, tmp_path, "--python", python)
    for number, hash_ in enumerate(git(project, "rev-list", "--reverse", "HEAD").split()):
        folder = f", from .asv/interleaved/packages/{hash_}/src"
        assert output.splitlines()[number].endswith(folder)
    assert "1 slower, 0 faster, 0 same" in output
    [comparison] = stored_comparisons(project)
    assert str(comparison.sitting.versions[-1].release) == "engine 1.1"
    assert comparison.sitting.kind == "compare"


@pytest.mark.parametrize(
    "command",
    ["compare", "bisect --before HEAD~1 --cases it", "explain --cases it", "gate --base HEAD~1"],
)
def test_commits_that_import_what_is_installed_are_refused(
    make_repository: Callable[..., Path], tmp_path: Path, command: str
) -> None:
    project = _two_commits(make_repository, "lib/engine.py")
    python = make_interpreter(tmp_path / "env", "1.1", 0.001)
    job, *options = command.split()
    _, errors = run_driver(job, project, tmp_path, *options, "--python", python, status=1)
    [line] = errors.splitlines()
    assert f"import the same engine, from {tmp_path}/env/lib/python3" in line
    assert "let asv build the commits" in line
