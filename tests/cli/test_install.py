"""What the documents say to install for training is enough to train."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from tests.programs import modules_without, run_program

TRAIN = "measure,train"


def test_nothing_but_the_documented_extras_is_needed_to_train(root: Path, tmp_path: Path) -> None:
    assert f"pip install '.[{TRAIN}]'" in (root / "docs" / "training.md").read_text()
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"]]
    for extra in TRAIN.split(","):
        wanted += project["optional-dependencies"][extra]
    absent = modules_without(Requirement(line).name for line in wanted)
    assert {"asv", "playwright"} <= set(absent)
    command = ["train", "--limit-batches", "2", "-e", "1", "-q", "--json", "result.json"]
    done = run_program(*command, missing=absent, folder=tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert (tmp_path / "result.json").exists()
