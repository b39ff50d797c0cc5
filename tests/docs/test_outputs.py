"""Pages show what their commands print, but for its numbers.

The tutorial's clone is a small project with the files that the commands name, the edited one the
real one, on a stand-in for torch whose own pooling takes three times as long, by a clock of its
own: no installation.
"""

import json
import os
import re
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT, git, make_repository, program, run
from tests.docs.pages import Page, absent

ACCEPTING = Page(ROOT / "packages/asv-watch/docs/pull-requests.md")
TRAINING = [step for step in Page(ROOT / "docs/training.md").steps() if step[1]]


def _check(commands: str, shown: list[str], folder: Path, home: Path) -> None:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    environment = os.environ | {"HOME": str(home), "PATH": path}
    done = run("sh", "-euc", commands, cwd=folder, env=environment)
    printed = done.stdout + done.stderr
    assert absent(shown, printed) == [], printed


def test_the_report_shows_a_note_as_the_page_shows(tmp_path: Path) -> None:
    [note] = ACCEPTING.blocks("toml")
    [step] = [step for step in ACCEPTING.steps() if "asv-watch report" in step[0] and step[1]]
    git(tmp_path, "clone", "--quiet", "--shared", str(ROOT), "clone")
    with (tmp_path / "clone" / "results" / "notes.toml").open("a") as notes:
        notes.write(note)
    _check(*step, tmp_path / "clone", home=tmp_path)


@pytest.mark.parametrize(("commands", "shown"), TRAINING, ids=["train", "sweep"])
def test_training_prints_what_pages_show(commands: str, shown: list[str], tmp_path: Path) -> None:
    lines = [line for line in commands.splitlines() if not line.startswith("pip install ")]
    _check("\n".join(lines), shown, tmp_path, home=tmp_path)


CONFIGURATION = {
    "version": 1,
    "project": "p",
    "repo": ".",
    "branches": ["main"],
    "environment_type": "virtualenv",
    "build_command": [],
    "install_command": ["python --version"],
    "uninstall_command": ["python --version"],
    "measured_paths": ["benchmarks", "src", "asv.conf.json"],
    "profiler": "profiler.py",
    "plugins": [".asv_watch"],
}
"""Of an environment that is made in seconds."""
SUITE = """
import random
import sys
from pathlib import Path
from unittest.mock import MagicMock

sys.path.append(str(Path(__file__).parents[1] / "src"))  # after the side's own, in a comparison


class Clock:
    now = 0.0  # it runs only while cases work: their times are known to 0.2 %

    @classmethod
    def read(cls):
        return cls.now


def pooling(seconds):
    def pool(x, *size):
        Clock.now += random.gauss(seconds, 0.002 * seconds)
        return x
    return pool


def stand_in(module, **contents):
    sys.modules[module] = MagicMock(**contents)


layers = dict.fromkeys(["conv1", "conv2", "dense1", "dense2", "dense3"], MagicMock())
stand_in("torch", **{"nn.functional.max_pool2d": pooling(3e-3)})
stand_in("torchspeed.models.checks")
stand_in("torchspeed.models.registry", register_model=lambda *names: lambda model: model)
stand_in("torchspeed.models.lenet5", LeNet5=type("LeNet5", (), layers))
stand_in("torchspeed.models.tuned.pooling", relu_max_pool=pooling(1e-3))


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
        self.model, self.x = TunedLeNet5(), MagicMock()

    def time_forward(self, model, device):
        self.model.forward(self.x)
"""
PROFILER = """
import importlib.util, json, pathlib

spec = importlib.util.find_spec("torchspeed.models.tuned.lenet5")
name, rest = "aten::max_pool2d_with_indices", "[], [], [], [], []"
operators = [("aten::maximum", "[[128, 6, 12, 24], []]", 4, 3e-4)]
if "relu_max_pool" not in pathlib.Path(spec.origin).read_text():
    pools = {"6, 24, 24": 3e-3, "16, 8, 8": 1e-3}
    operators = [(name, f"[[128, {size}], {rest}]", 1, pools[size]) for size in pools]
fields = ("name", "shapes", "calls", "seconds")
operators = [dict(zip(fields, operator)) for operator in operators]
print(json.dumps({"operators": operators, "kernels": [], "counts": {}}))
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A project like the clone that the page makes, with what `make setup` would install."""
    copied = "Makefile", "src/torchspeed/models/tuned/lenet5.py"  # which the page edits
    root = tmp_path / "clone"
    files = {
        "asv.conf.json": json.dumps(CONFIGURATION),
        "benchmarks/__init__.py": "",
        "benchmarks/small_cnns.py": SUITE,
        "profiler.py": PROFILER,
        "README.md": "# torchspeed\n",
        "packages/asv-watch/pyproject.toml": "",
        ".gitignore": "__pycache__/\nenv/\n.venv/\nresults/\nhtml/\n",
        **{name: (ROOT / name).read_text() for name in copied},
    }
    make_repository(root, files)
    programs = root / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, module in (("python", ""), ("asv-watch", "-m asv_watch.cli")):
        program(programs / name, f'exec "{sys.executable}" {module} "$@"')
    (root / ".venv" / ".watch").touch()
    return root


def test_the_tutorial_prints_what_it_shows(clone: Path, tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n")
    exported = ""
    for block, shown in Page(ROOT / "docs" / "start.md").steps():
        commands = re.sub(r"^git clone .*$", "", block, flags=re.MULTILINE)
        _check(exported + commands, shown, clone, home=tmp_path)
        exported += "".join(re.findall(r"^export .*\n", commands, re.MULTILINE))
