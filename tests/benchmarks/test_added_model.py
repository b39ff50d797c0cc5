"""Following docs/measure-your-model.md adds a model and a suite; a code_version is raised."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, git, run
from torchspeed.workloads import list_workloads

SUITE = '''"""Forecasting models that somebody added."""

from ._cases import DEVICES
from ._suite import _ModelSuite


class Added(_ModelSuite):
    """At the batch of their sources."""

    params = (["gru"], DEVICES)
    param_names = ("model", "device")
'''
TESTS = (
    "tests/models/test_bad_input.py",
    "tests/models/test_frozen.py",
    "tests/models/test_plain_and_tuned.py::test_parameters_load_both_ways_and_start_the_same",
    "tests/test_workloads.py",
    "tests/test_architecture.py",
    "tests/benchmarks/test_suites.py",
)
OTHERS = ("short_set", "measured_process", "first_commit", "defect", *list_workloads())
"""Words in the names of tests about other suites and models than the added ones."""


def _is_needed(name: str) -> bool:
    return name.endswith("/benchmarks.json") or not name.startswith(("results/", "docs/images/"))


@pytest.mark.timeout(900)
def test_adding_a_model_takes_three_places_and_its_tests_pass(tmp_path: Path) -> None:
    tracked = git(ROOT, "ls-files", "-z")
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).is_file() and _is_needed(name):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")

    page = (ROOT / "docs/measure-your-model.md").read_text()
    steps = page.partition("```sh\n")[2].partition("git add")[0]
    run("sh", "-ec", steps, cwd=tmp_path)
    assert (tmp_path / "src/torchspeed/models/gru.py").is_file()
    (tmp_path / "benchmarks/added.py").write_text(SUITE)
    suite, params = tmp_path / "benchmarks/small_cnns.py", "    params = (TUNED_CNNS"
    assert suite.read_text().count(params) == 1
    raised = f'    code_version = "2"\n{params}'
    suite.write_text(suite.read_text().replace(params, raised))

    paths = os.pathsep.join((str(tmp_path / "src"), str(tmp_path)))
    chosen = f"not ({' or '.join(OTHERS)})"
    pytest = sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-x", "-k", chosen
    run(*pytest, *TESTS, cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths})
