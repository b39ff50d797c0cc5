"""asv's own options on every command: which settings, which environments, which Python."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.cli.main import COMMANDS, main
from asv_watch.errors import WatchError
from asv_watch.options import choose
from tests.conftest import git
from tests.interruptible import run_driver
from tests.torchless import CONFIGURATION, give_environment, project_files

SUITE = """
def track_it():
    import package
    return package.SIZE

track_it.exact = True
"""


@pytest.fixture(autouse=True)
def asv_watch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a command in a folder and returns what it prints; what a test chose is forgotten."""
    for name in ("CONFIG", "ENVIRONMENT", "PYTHON"):
        monkeypatch.setenv(f"ASV_WATCH_{name}", "")

    def work(folder: Path, *arguments: str, status: int = 0) -> str:
        monkeypatch.chdir(folder)
        assert main([*arguments]) == status
        printed = capsys.readouterr()
        return printed.out + printed.err

    return work


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_take_them(asv_watch: Callable[..., str], command: str, tmp_path: Path) -> None:
    printed = asv_watch(tmp_path, command, "--help")
    assert all(option in printed for option in ("--config", "-E", "--python"))


def test_a_project_of_conda_is_measured_in_virtual_environments_of_another_python(
    make_project: Callable[..., Path], tmp_path: Path
) -> None:
    conda: dict[str, Any] = {"environment_type": "conda", "pythons": ["3.99"]}
    project = make_project(SUITE, {"src/package.py": "SIZE = 1"}, **conda)
    before = git(project, "rev-parse", "HEAD")
    (project / "src/package.py").write_text("SIZE = 2")
    git(project, "commit", "--quiet", "--all", "--message", "Grow")
    virtual = ("-E", "virtualenv", "--python", "same")
    printed, _ = run_driver("compare", project, tmp_path, "--before", before, *virtual)
    assert re.search(r"^\| `suite.track_it` +\| 1\.00 +\| 2\.00 ", printed, re.MULTILINE), printed
    assert git(project, "status", "--porcelain") == ""


def test_a_settings_file_of_another_name_and_folder_serves_asv_too(
    make_repository: Callable[..., Path], made_environment: Path, tmp_path: Path
) -> None:
    suite = "def track_it():\n    return 1\n"
    files = project_files(suite, repo="..", results_dir="stored", measured_paths=[])
    files["ci.json"] = "// comments are allowed\n" + files.pop("asv.conf.json")
    repository = make_repository({f"asv/{name}": text for name, text in files.items()})
    give_environment(repository / "asv", made_environment)
    run_driver("bench", repository, tmp_path, "--config", "asv/ci.json", "--cases", "track_it")
    [stored] = (repository / "asv" / "stored" / "m").glob("*-*.json")
    assert "suite.track_it" in json.loads(stored.read_text())["results"]


def test_settings_with_comments_in_their_name_are_read(
    make_project: Callable[..., Path],
) -> None:
    project = make_project(SUITE)
    (project / "asv.conf.json").rename(project / "asv.conf.jsonc")
    assert read_configuration(project).environments
    shutil.copy(project / "asv.conf.jsonc", project / "asv.conf.json")
    with pytest.raises(WatchError, match=r"has both asv\.conf\.json and asv\.conf\.jsonc"):
        read_configuration(project)


@pytest.mark.parametrize("folder", [".", "src/deep"])
def test_from_a_folder_without_settings_the_message_says_where_some_are_or_how_to_make_them(
    asv_watch: Callable[..., str], make_repository: Callable[..., Path], folder: str
) -> None:
    files = {"asv_bench/asv.conf.json": json.dumps(CONFIGURATION), "src/deep/package.py": ""}
    repository = make_repository(files)
    path = os.path.relpath("asv_bench", folder)
    for command in ("compare", "gate", "releases", "publish"):
        message = asv_watch(repository / folder, command, status=1)
        assert f"run `cd {path}` first" in message
        assert f"or give --config {path}/asv.conf.json" in message
        assert message.count("\n") == 1
    git(repository, "rm", "--quiet", "asv_bench/asv.conf.json")
    assert "asv quickstart" in asv_watch(repository / folder, "compare", status=1)


def test_one_environment_is_chosen_by_its_name(make_project: Callable[..., Path]) -> None:
    matrix = {"req": {"numpy": ["2.4.0", "2.3.5"]}}
    project = make_project(SUITE, matrix=matrix)
    _, second = read_configuration(project).environments
    choose("", second.name, "")
    assert read_configuration(project).environments == (second,)
    choose("", f"{second.name}-scipy", "")
    with pytest.raises(WatchError, match=r"describes no environment .*; it has .*numpy2.4.0, "):
        read_configuration(project)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--config", "nowhere.json"), "'nowhere.json' is not a file"),
        (("--python", "three"), "'three' is not a version"),
        (("-E", "virtualenv:x"), "'x' is not a version"),
        (("-E", "docker"), "no environments of type 'docker'"),
        (("--python", "3.99"), "python3.99 is no Python that runs here"),
        (("--python", "no/python"), "/no/python is no Python that runs here"),
    ],
)
def test_a_choice_that_cannot_be_made_is_one_line(
    asv_watch: Callable[..., str],
    make_project: Callable[..., Path],
    options: tuple[str, ...],
    named: str,
) -> None:
    message = asv_watch(make_project(SUITE), "calibrate", *options, status=1)
    assert named in message
    assert message.count("\n") == 1
