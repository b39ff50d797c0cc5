"""A suite that cannot be imported is named, and the others are measured."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.errors import ExitStatus
from asv_watch.records.asv_files import parse_list
from tests.conftest import commit, git
from tests.interruptible import run_driver

GOOD = "from package import WORDS\n\ndef track_words():\n    return WORDS\n"
OF_A_HELPER = "from package import helper\n\ndef track_help():\n    return helper()\n"
BROKEN = "import nosuch\n\ndef track_nothing():\n    return 0\n"
CANNOT_BE_MADE = """
class Suite:
    def __init__(self):
        raise LookupError("no data")

    def track_data(self):
        return 1
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


def test_compare_and_gate_go_on_with_the_other_suites(project: Path, tmp_path: Path) -> None:
    some_failed = ExitStatus.SOME_CASES_FAILED
    before = "--before", "main"
    printed, errors = run_driver("compare", project, tmp_path, *before, status=some_failed)
    assert errors.splitlines().count(MISSING) == 1
    assert "| `suite.track_words` |" in printed
    assert "Failed: helped.track_help: HEAD" in printed
    assert "ImportError: cannot import name 'helper' from 'package'" in printed

    file = tmp_path / "gate.json"
    arguments = ("--base", "main", "--json", str(file))
    _, errors = run_driver("gate", project, tmp_path, *arguments, status=some_failed)
    assert errors.splitlines().count(MISSING) == 1
    cases = {case["case"]: case for case in json.loads(file.read_text())["differences"]}
    assert {name: case["verdict"] for name, case in cases.items()} == {
        "suite.track_words": "same",
        "helped.track_help": "not measured",
        "broken": "not measured",
    }
    assert cases["helped.track_help"]["reason"].startswith(
        "its suite cannot be imported: ImportError: cannot import name 'helper' from 'package'"
    )
    assert "the Python module nosuch is missing" in cases["broken"]["reason"]

    commit(project, {"src/package.py": PACKAGE + "LINES = 2\n" + HELPER}, "Keep the helper")
    run_driver("gate", project, tmp_path, *arguments)  # neither side can import the other suite


def test_a_gate_goes_on_without_a_suite_whose_import_hangs(project: Path, tmp_path: Path) -> None:
    files = {
        "src/package.py": PACKAGE + "LINES = 2\n" + HELPER,
        "benchmarks/broken.py": "import time\n\ntime.sleep(600)  # as a download does\n",
        "benchmarks/suite.py": f"import sys\n\nsys.path.append('elsewhere')\n{GOOD}",
    }
    commit(project, files, "Keep the helper")
    arguments = ("--base", "main", "--limit", "100s")
    printed, errors = run_driver("gate", project, tmp_path, *arguments)
    assert "suite broken cannot be imported: importing it takes more than 10 s;" in errors
    assert "The gate passes." in printed


def test_a_run_goes_on_with_the_other_suites_and_keeps_the_list(
    project: Path, tmp_path: Path
) -> None:
    git(project, "checkout", "--quiet", "main")
    printed, errors = run_driver("bench", project, tmp_path, status=ExitStatus.SOME_CASES_FAILED)
    assert "1 failed, 2 ok" in printed
    assert MISSING in errors.splitlines()
    git(project, "merge", "--quiet", "--ff-only", "change")
    commit(project, {"benchmarks/broken.py": CANNOT_BE_MADE}, "Need data")
    printed, errors = run_driver(
        "nightly", project, tmp_path, "--budget", "10min", status=ExitStatus.SOME_CASES_FAILED
    )
    assert "suite broken cannot be imported: LookupError: no data" in errors.splitlines()
    assert "helped.track_help failed: ImportError: cannot import name 'helper'" in errors
    listed = parse_list((project / "results/m/benchmarks.json").read_bytes())
    assert {"suite.track_words", "helped.track_help"} == listed.keys()
