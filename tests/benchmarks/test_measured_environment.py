"""Suites work in the environments of asv.conf.json, which have less than those that run asv."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.conftest import run
from tests.programs import modules_without

INSTALLED = ("asv_runner", "torch", "torchvision", "scikit-learn")
"""What asv installs: its runner, and the requirements of asv.conf.json."""
PROBE = """
import importlib
import sys

sys.modules |= dict.fromkeys(sys.argv[1].split())  # None: cannot be imported
for wanted in sys.argv[2:]:
    module, name = wanted.split(":")
    getattr(importlib.import_module(f"torchspeed.{module}"), name)

from torchspeed.training.cases import time_to_accuracy_of

print(time_to_accuracy_of("lenet5", "cpu").best_test_accuracy)
"""


def test_everything_that_suites_import_needs_only_what_asv_installs(root: Path) -> None:
    suites = "".join(path.read_text() for path in (root / "benchmarks").glob("*.py"))
    imported = re.findall(r'from_commit\(\s*"([\w.]+)", "(\w+)"', suites)
    assert ("training.cases", "adam_steps") in imported
    wanted = (f"{module}:{name}" for module, name in imported)
    done = run(
        *(sys.executable, "-c", PROBE, " ".join(modules_without(INSTALLED)), *wanted),
        cwd=root,
        env={"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"},
    )
    assert 0.8 <= float(done.stdout) <= 1
