"""What the documents say to install for training is enough to train."""

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.benchmarks.test_measured_environment import with_requirements
from tests.cli.test_main import WITHOUT

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
    assert {"asv", "pyarrow"} <= set(absent)
    command = ["train", "--limit-batches", "2", "-e", "1", "-q", "--json", "result.json"]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=absent), *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert (tmp_path / "result.json").exists()
