"""Imports go in the directions that the tree promises."""

import json
import os
import re
import sys
from pathlib import Path

from asv_watch.asv.conf import load_settings
from tests.conftest import ROOT, run
from tests.programs import modules_without

TRAINING_ROOM = "src/torchspeed/training/*.py"
"""All of it is measured; what runs many trainings is in ``studies``."""
INSTALLED = ("asv_runner", "torch", "torchvision", "scikit-learn")
"""What asv installs: its runner, and the requirements of asv.conf.json."""
PYTHONPATH = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
sys.modules |= dict.fromkeys(sys.argv[1].split())  # None: cannot be imported
import benchmarks
for _, name, _ in pkgutil.iter_modules(benchmarks.__path__):
    importlib.import_module(f"benchmarks.{name}")
for wanted in sys.argv[2:]:
    module, name = wanted.split(":")
    getattr(importlib.import_module(f"torchspeed.{module}"), name)
from torchspeed.training.cases import time_to_accuracy_of
accuracy = time_to_accuracy_of("lenet5", "cpu").best_test_accuracy
files = [module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)]
print(json.dumps([accuracy, "torchvision" in sys.modules, files]))
"""


def test_imports_go_in_the_allowed_directions() -> None:
    code = "import importlinter.cli, sys; sys.exit(importlinter.cli.lint_imports())"
    done = run(sys.executable, "-c", code, cwd=ROOT, env=os.environ | {"PYTHONPATH": PYTHONPATH})
    assert "0 broken" in done.stdout


def test_a_measured_process_needs_only_what_asv_installs_and_measured_paths() -> None:
    suites = "".join(path.read_text() for path in (ROOT / "benchmarks").glob("*.py"))
    imported = re.findall(r'from_commit\(\s*"([\w.]+)", "(\w+)"', suites)
    assert ("training.cases", "adam_steps") in imported
    wanted = (f"{module}:{name}" for module, name in imported)
    missing = " ".join(modules_without(INSTALLED))
    command = sys.executable, "-c", IMPORT_EVERYTHING, missing, *wanted
    done = run(*command, cwd=ROOT, env={"PYTHONPATH": PYTHONPATH, "OMP_NUM_THREADS": "1"})
    accuracy, has_torchvision, files = json.loads(done.stdout)
    assert 0.8 <= accuracy <= 1
    assert not has_torchvision, "it takes a second, and only its own models need it"
    paths = [Path(file) for file in files if ".venv" not in file]
    ours = {path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT)}
    measured_paths = load_settings(ROOT).declared.measured_paths
    allowed = [*measured_paths, "src/torchspeed/__init__.py"]  # this is nothing but a docstring
    outside = [path for path in ours if not any(map(path.is_relative_to, allowed))]
    assert outside == [], "add these to measured_paths of asv.conf.json"
    never = {Path(path) for path in measured_paths if path.endswith(".py")} - ours
    assert not never, "no suite imports these: remove them from measured_paths of asv.conf.json"
    training = {path.relative_to(ROOT) for path in ROOT.glob(TRAINING_ROOM)}
    assert training <= ours, "no suite imports these: they belong to another room"
