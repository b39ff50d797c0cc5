"""A suite that cannot be imported is named, and the others are measured."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.engine import cases
from asv_watch.engine.cases import list_benchmarks
from asv_watch.engine.workplace import Side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.machine.children import MEMORY_LIMIT
from asv_watch.records.asv_files import parse_list
from tests.conftest import commit, git
from tests.interruptible import run_driver

SOME_FAILED = ExitStatus.SOME_CASES_FAILED
GOOD = "from package import WORDS\n\ndef track_words():\n    return WORDS\n"
OF_A_HELPER = "from package import helper\n\ndef track_help():\n    return helper()\n"
BROKEN = "import nosuch\n\ndef track_nothing():\n    return 0\n"
CANNOT_BE_MADE = """
class Suite:
    def __init__(self):
        raise LookupError("no data")

    def track_data(self): ...
"""
PACKAGE = "WORDS = 10\n"
HELPER = "\ndef helper():\n    return 7\n"
MISSING = (
    "suite broken cannot be imported: the Python module nosuch is missing; "
    'if the suites need it, add its package to "matrix" of asv.conf.json ("req": {"nosuch": []}), '
    "else to what the project requires"
)


@pytest.fixture
def project(make_project: Callable[..., Path]) -> Path:
    """A project with three suites that can be imported, and one that cannot.

    Its head removes a function that one suite imports.
    """
    files = {
        "src/package.py": PACKAGE + HELPER,
        "benchmarks/helped.py": OF_A_HELPER,
        "benchmarks/broken.py": BROKEN,
    }
    root = make_project(GOOD, files, measured_paths=["src"])
    git(root, "checkout", "--quiet", "-b", "change")
    commit(root, {"src/package.py": PACKAGE}, "Remove the helper")
    return root


def test_commands_go_on_with_the_other_suites(project: Path, tmp_path: Path) -> None:
    _, errors = run_driver("bench", project, tmp_path, "--cases", "nosuch", status=1)
    assert errors.endswith("\nasv-watch: no case matches nosuch; try a part of a name\n")

    before = "--before", "main"
    printed, errors = run_driver("compare", project, tmp_path, *before, status=SOME_FAILED)
    assert errors.splitlines().count(MISSING) == 1
    assert "| `suite.track_words` |" in printed
    assert "Failed: helped.track_help: HEAD" in printed
    assert "ImportError: cannot import name 'helper' from 'package'" in printed
    one_case = *before, "--after", "HEAD", "--cases", "words"
    printed, errors = run_driver("bisect", project, tmp_path, *one_case, status=SOME_FAILED)
    assert MISSING in errors.splitlines()
    assert "do not differ" in printed

    file = tmp_path / "gate.json"
    arguments = ("--base", "main", "--json", str(file))
    _, errors = run_driver("gate", project, tmp_path, *arguments, status=SOME_FAILED)
    assert errors.splitlines().count(MISSING) == 1
    compared = {case["case"]: case for case in json.loads(file.read_text())["differences"]}
    assert {name: case["verdict"] for name, case in compared.items()} == {
        "suite.track_words": "same",
        "helped.track_help": "not measured",
        "broken": "not measured",
    }
    assert compared["helped.track_help"]["reason"].startswith(
        "its suite cannot be imported: ImportError: cannot import name 'helper' from 'package'"
    )
    assert "the Python module nosuch is missing" in compared["broken"]["reason"]

    # Neither side can import the other suite now.
    files = {
        "src/package.py": PACKAGE + "LINES = 2\n" + HELPER,
        "benchmarks/broken.py": "import time\n\ntime.sleep(600)  # as a download does\n",
    }
    commit(project, files, "Keep the helper")
    printed, errors = run_driver("gate", project, tmp_path, *arguments, "--limit", "100s")
    assert "suite broken cannot be imported: importing it takes more than 10 s;" in errors
    assert "The gate passes." in printed


def test_a_run_goes_on_with_other_suites_and_keeps_the_list(project: Path, tmp_path: Path) -> None:
    git(project, "checkout", "--quiet", "main")
    printed, errors = run_driver("bench", project, tmp_path, status=SOME_FAILED)
    assert "1 failed, 2 ok" in printed
    assert MISSING in errors.splitlines()
    git(project, "merge", "--quiet", "--ff-only", "change")
    commit(project, {"benchmarks/broken.py": CANNOT_BE_MADE}, "Need data")
    printed, errors = run_driver("nightly", project, tmp_path, status=SOME_FAILED)
    assert "suite broken cannot be imported: LookupError: no data" in errors.splitlines()
    assert "helped.track_help failed: ImportError: cannot import name 'helper'" in errors
    listed = parse_list((project / "results/m/benchmarks.json").read_bytes())
    assert {"suite.track_words", "helped.track_help"} == listed.keys()


TIMED = """
import os
import time

{importing}

def time_it():
    pass
"""
UNREACHABLE = "Temporary failure in name resolution"


@pytest.fixture
def list_suites(
    tmp_path: Path, made_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """Lists the benchmarks of suites, given what each does when it is imported."""
    monkeypatch.setattr(cases, "import_folders", lambda *_: None)

    def list_suites(
        importing: dict[str, str], import_timeout: float = 60.0, pattern: str = ""
    ) -> list[str]:
        folder = tmp_path / "benchmarks"
        folder.mkdir()
        for name, body in importing.items():
            path = folder / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(TIMED.format(importing=body))
        side = Side("head", tmp_path, EnvironmentSpec({}, "", made_environment), folder)
        declared = Declared(import_timeout=import_timeout)
        workplace: Any = SimpleNamespace(declared=declared)
        listing = list_benchmarks(workplace, [side], pattern)
        return [str(benchmark["name"]) for benchmark in listing.benchmarks]

    return list_suites


def test_a_suite_that_hangs_or_fails_or_ends_its_process_is_named_and_the_others_are_listed(
    list_suites: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    importing = {
        "computes": "while True:\n    pass",
        "ends": "os._exit(3)",
        "offline": f"import socket\nraise socket.gaierror(-3, {UNREACHABLE!r})",
        "works": "",
    }
    assert list_suites(importing, 5.0) == ["works.time_it"]
    late = 'importing it takes more than 5 s; raise "import_timeout" (seconds) in asv.conf.json'
    errors = capsys.readouterr().err
    for suite, reason in (
        ("computes", late),
        ("ends", "its process ended: exit status 3\n"),
        ("offline", f"gaierror: [Errno -3] {UNREACHABLE}\n"),
    ):
        assert f"suite {suite} cannot be imported: {reason}" in errors
    assert errors.count("\n") == 3


def test_a_suite_that_takes_too_much_memory_is_named_and_the_others_are_listed(
    list_suites: Callable[..., list[str]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "0.4")
    holds = "kept = b'1' * (250 << 20)\ntime.sleep(2.5)  # until it is looked at"
    importing = {
        "a_large": holds,
        "b_greedy": "kept = b'1' * (1 << 29)\ntime.sleep(600)",
        "c_large": holds,
        "d_large": holds,
    }
    assert list_suites(importing) == ["a_large.time_it", "c_large.time_it", "d_large.time_it"]
    [line] = capsys.readouterr().err.splitlines()
    reason = f"it used more than 0.4 GiB of memory and was stopped; {MEMORY_LIMIT} sets the limit"
    assert line == f"suite b_greedy cannot be imported: {reason}"


def test_an_error_says_why_no_suite_is_left(list_suites: Callable[..., list[str]]) -> None:
    with pytest.raises(WatchError, match="suite fails cannot be imported: ValueError: no data"):
        list_suites({"fails": "raise ValueError('no data')"})


ALL = ["deep.inner", "plain", "plain_compiled"]


@pytest.mark.parametrize(
    ("pattern", "listed"),
    [
        (r"^plain\.", ["plain"]),
        (r"^deep\.inner\.time_it$", ["deep.inner"]),
        ("plain.time_it", ALL),
        ("^plain", ALL),
        (r"^plain\.|deep", ALL),
        ("^plain.*it", ALL),
        (r"^no\.", ALL),
        ("", ALL),
    ],
)
def test_the_module_at_the_start_of_a_pattern_is_the_only_one_imported(
    list_suites: Callable[..., list[str]],
    capsys: pytest.CaptureFixture[str],
    pattern: str,
    listed: list[str],
) -> None:
    importing = {"plain": "", "plain_compiled": "", "deep/inner": "", "broken": "1 / 0"}
    assert list_suites(importing, pattern=pattern) == [f"{name}.time_it" for name in listed]
    says_broken = "suite broken cannot be imported" in capsys.readouterr().err
    assert says_broken is (len(listed) > 1)
