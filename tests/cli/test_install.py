"""What the documents say to install for training is enough to train."""

import importlib.metadata
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.benchmarks.test_measured_environment import with_requirements
from tests.programs import run_program

TRAIN = "measure,train"


def test_nothing_but_the_documented_extras_is_needed_to_train(root: Path, tmp_path: Path) -> None:
    assert f"pip install '.[{TRAIN}]'" in (root / "docs" / "training.md").read_text()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"]]
    for extra in TRAIN.split(","):
        wanted += project["optional-dependencies"][extra]
    installed = with_requirements(Requirement(line).name for line in wanted) | {"torchspeed"}
    absent = [
        module
        for module, owners in importlib.metadata.packages_distributions().items()
        if installed.isdisjoint(map(canonicalize_name, owners))
        and module not in sys.stdlib_module_names
    ]
    assert {"asv", "playwright"} <= set(absent)
    command = ["train", "--limit-batches", "2", "-e", "1", "-q", "--json", "result.json"]
    done = run_program("torchspeed", *command, missing=absent, folder=tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert (tmp_path / "result.json").exists()
