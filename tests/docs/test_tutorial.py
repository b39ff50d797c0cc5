"""The commands of docs/start.md print what the page shows, but for its numbers.

The tutorial's clone is a small project with the files that the commands name, the edited one the
real one, on a stand-in for torch whose own pooling takes three times as long, by a clock of its
own: no installation.
"""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, git, run
from tests.docs.pages import Page, absent

CONFIGURATION = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "env_dir": ".asv/env",
    "results_dir": "results",
    "pythons": [f"{sys.version_info.major}.{sys.version_info.minor}"],
    "matrix": {"env_nobuild": {"OMP_NUM_THREADS": ["1"]}},
    "build_command": [],
    "install_command": ["python --version"],
    "uninstall_command": ["python --version"],
    "measured_paths": ["benchmarks", "src", "asv.conf.json"],
    "profiler": "profiler.py",
    "plugins": [".asv_watch"],
}
"""Of an environment that is made in seconds."""
CLOCK = """
import random

class Clock:
    now = 0.0

    @classmethod
    def read(cls):
        return cls.now
"""
"""A clock that runs only while cases work: their times are known to 0.2 %."""
MODELS = "src/torchspeed/models"
PACKAGE = {
    "src/torch/__init__.py": f"""{CLOCK}
from torch import nn

class Tensor:
    def relu(self):
        return self

    def flatten(self, start):
        return self
""",
    "src/torch/nn/__init__.py": "from torch.nn import functional\n",
    "src/torch/nn/functional.py": """
import random

import torch

def max_pool2d(x, size):
    torch.Clock.now += random.gauss(3e-3, 6e-6)
    return x
""",
    "src/torchspeed/__init__.py": "",
    f"{MODELS}/__init__.py": "from torchspeed.models import lenet5\n",
    f"{MODELS}/checks.py": "def check_input(*arguments):\n    pass\n",
    f"{MODELS}/registry.py": "def register_model(name, tuned):\n    return lambda model: model\n",
    f"{MODELS}/lenet5.py": """
class Layer:
    weight = None

    def __call__(self, x):
        return x

class LeNet5:
    conv1 = conv2 = dense1 = dense2 = dense3 = Layer()
""",
    f"{MODELS}/tuned/__init__.py": "",
    f"{MODELS}/tuned/pooling.py": """
import random

from torch import Clock

def relu_max_pool(x):
    Clock.now += random.gauss(1e-3, 2e-6)
    return x
""",
}
SUITE = """
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "src"))  # after the side's own, in a comparison

from torch import Clock, Tensor


class SmallCNNs:
    params = (["lenet5"], ["cpu"])
    param_names = ("model", "device")
    short = True
    timer = Clock.read
    rounds = 3
    repeat = (2, 20, 0.5)
    sample_time = 0.005
    warmup_time = 0

    def setup(self, model, device):
        from torchspeed.models.tuned.lenet5 import TunedLeNet5
        self.model, self.x = TunedLeNet5(), Tensor()

    def time_forward(self, model, device):
        self.model.forward(self.x)
"""
PROFILER = """
import json
import torchspeed.models.tuned.lenet5 as lenet5

slow = not hasattr(lenet5, "relu_max_pool")
if slow:
    pools = {"6, 24, 24": 3e-3, "16, 8, 8": 1e-3}
    name, rest = "aten::max_pool2d_with_indices", "[], [], [], [], []"
    operators = [(name, f"[[128, {size}], {rest}]", 1, pools[size]) for size in pools]
else:
    operators = [("aten::maximum", "[[128, 6, 12, 24], []]", 4, 3e-4)]
fields = ("name", "shapes", "calls", "seconds")
counts = {
    "dispatches": 60 if slow else 76,
    "flops": 72_099_840,
    "allocations": 18 if slow else 16,
    "allocated_bytes": 11_776_128 if slow else 9_482_368,
}
operators = [dict(zip(fields, operator)) for operator in operators]
print(json.dumps({"operators": operators, "kernels": [], "counts": counts}))
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project like the clone that the page makes, with what `make setup` would install."""
    edited = f"{MODELS}/tuned/lenet5.py"
    copied = {name: (ROOT / name).read_text() for name in (edited, "Makefile")}
    root = tmp_path / "clone"
    files = {
        "asv.conf.json": json.dumps(CONFIGURATION),
        "benchmarks/__init__.py": "",
        "benchmarks/small_cnns.py": SUITE,
        "profiler.py": PROFILER,
        "README.md": "# torchspeed\n",
        "packages/asv-watch/pyproject.toml": "",
        ".gitignore": "__pycache__/\n.asv/\n.venv/\nresults/\nhtml/\n",
        **PACKAGE,
        **copied,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Begin")
    programs = root / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, module in (("python", ""), ("asv-watch", "-m asv_watch.cli")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (programs / name).chmod(0o755)
    (root / ".venv" / ".watch").touch()
    return root


def test_the_tutorial_prints_what_it_shows(clone: Path, tmp_path: Path) -> None:
    person = {"NAME": "A", "EMAIL": "a@example.org"}
    author = {
        f"GIT_{who}_{what}": person[what] for who in ("AUTHOR", "COMMITTER") for what in person
    }
    exported = ""
    for block, shown in Page(ROOT / "docs" / "start.md").steps():
        commands = re.sub(r"^git clone .*$", "", block, flags=re.MULTILINE)
        environment = os.environ | author | {"HOME": str(tmp_path)}
        done = run("bash", "-euc", exported + commands, cwd=clone, env=environment)
        exported += "".join(re.findall(r"^export .*\n", commands, re.MULTILINE))
        printed = done.stdout + done.stderr
        assert absent(shown, printed) == [], printed
