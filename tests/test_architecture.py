"""Imports go in the directions that the tree promises."""

import json
import os
import subprocess
import sys
from pathlib import Path

from asv_watch.asv.conf import load_settings
from tests.conftest import run

TRAINING_ROOM = "src/torchspeed/training/*.py"
"""All of it is measured; what runs many trainings is in ``studies``."""
MEASURED_PATHS = load_settings(Path(__file__).parents[1]).declared.measured_paths

IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
import benchmarks
for _, name, _ in pkgutil.iter_modules(benchmarks.__path__):
    importlib.import_module(f"benchmarks.{name}")
from benchmarks._package import from_commit
for name in %r:
    importlib.import_module(f"torchspeed.{name}")
import torchspeed.losses  # workloads import it when they are asked
files = [module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)]
print(json.dumps(files))
"""
MEASURED = (
    "training.cases",
    "training.window_loading",
    "measure.compile_cost",
    "measure.deployment",
    "measure.device_memory",
    "measure.device_time",
    "measure.floor",
    "measure.generation",
    "measure.latency",
    "measure.passes",
    "measure.training_step",
    "measure.utilisation",
    "measure.work",
)
"""Modules whose names suites import from the measured commit."""


def _python(root: Path, code: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(root / "src"), str(root)))
    return run(sys.executable, "-c", code, cwd=root, env=os.environ | {"PYTHONPATH": path})


def test_imports_go_in_the_allowed_directions(root: Path) -> None:
    done = _python(root, "import importlinter.cli, sys; sys.exit(importlinter.cli.lint_imports())")
    assert "0 broken" in done.stdout


def test_a_measured_process_imports_nothing_outside_the_measured_paths(root: Path) -> None:
    done = _python(root, IMPORT_EVERYTHING % (MEASURED,))
    assert done.returncode == 0, done.stderr
    ours = [
        Path(file).relative_to(root).as_posix()
        for file in json.loads(done.stdout)
        if Path(file).is_relative_to(root) and ".venv" not in file
    ]
    assert "src/torchspeed/measure/passes.py" in ours
    assert "benchmarks/_suite.py" in ours
    packages = {"src/torchspeed/__init__.py"}  # it holds nothing but its docstring
    outside = [
        file
        for file in ours
        if file not in packages
        and not any(file == path or file.startswith(f"{path}/") for path in MEASURED_PATHS)
    ]
    assert outside == [], "add these to measured_paths of asv.conf.json"
    files = [path for path in MEASURED_PATHS if path.endswith(".py")]
    never = [file for file in files if file not in ours]
    assert never == [], "no suite imports these: remove them from measured_paths of asv.conf.json"
    training = [path.relative_to(root).as_posix() for path in root.glob(TRAINING_ROOM)]
    assert set(training) <= set(ours), "no suite imports these: they belong to another room"


def test_the_list_of_measured_modules_is_what_suites_import(root: Path) -> None:
    suites = "".join(path.read_text() for path in (root / "benchmarks").glob("*.py"))
    for name in MEASURED:
        assert f'from_commit("{name}"' in suites
    imported = {part.partition('"')[0] for part in suites.split('from_commit("')[1:]}
    helpers = {
        "devices",
        "workloads",
        "measure.clocks",
        "measure.peak",
        "measure.compilation",
    }
    assert imported == set(MEASURED) | helpers
