"""Scripts that asv-watch runs in an environment: the facts of torch, and its slow operators."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from asv_watch.asv.declared import Declared
from asv_watch.asv.settings import Configuration, EnvironmentSpec
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.workplace import Side, Workplace
from asv_watch.errors import WatchError
from asv_watch.explain import explain_case, report
from asv_watch.records.store import EXPLANATIONS, StoredExplanation, read_stored
from asv_watch.versions.version import Version
from tests.conftest import run
from torchspeed.probes import facts as script
from torchspeed.probes import operators
from torchspeed.probes.operators import parse_kernels

FACTS = Path(script.__file__)


def facts_of(folder: Path, **variables: str) -> Any:
    """What the script says as it is run by `asv run`: from elsewhere, without this package."""
    environment = {"PATH": os.environ["PATH"], **variables}
    return json.loads(run(sys.executable, "-P", FACTS, cwd=folder, env=environment).stdout)


def test_torch_its_build_threads_and_variables_are_told(tmp_path: Path) -> None:
    output = facts_of(tmp_path, OMP_NUM_THREADS="1", TORCH_SHOW_CPP_STACKTRACES="0", EDITOR="hush")
    facts = output["facts"]
    assert facts["torch build"].startswith(torch.__version__)
    assert facts["threads"].startswith("1 within operators")
    built = {"compiler", "BLAS", "oneDNN", "OpenMP", "vector instructions", "CUDA of torch"}
    assert built <= facts.keys()
    assert "ATen parallel backend" in output["details"]["torch.__config__.parallel_info()"]


def test_an_environment_without_torch_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so: cannot open')")
    output = facts_of(tmp_path, PYTHONPATH=str(tmp_path))
    assert output["facts"]["torch build"] == "none (libcudart.so: cannot open)"
    assert output["details"] == {}


SUITE = """
import os
from pathlib import Path
import torch
from package import extra

forks = []  # torch before 2.7 is slow in a process that was forked after it was imported
os.register_at_fork(after_in_child=lambda: forks.append(os.getpid()))


class Suite:
    params = ["plain", "absent", "ends"]

    def setup_cache(self):
        Path("kept").touch()

    def setup(self, how):
        print("what a suite prints is not a profile")
        if how == "absent":
            raise NotImplementedError("nobody has it")
        assert not forks
        self.images = torch.ones(4, 3, 32, 32)
        self.convolution = torch.nn.Conv2d(3, 8, 3)

    def time_it(self, how):
        if how == "ends":
            os._exit(0)
        with torch.inference_mode():
            extra(torch.relu(self.convolution(self.images)))
        assert not forks
"""


CASE = MeasurableCase("x", "suite.Suite.time_it-0", timeout=300.0)


def _side(folder: Path, name: str, body: str) -> Side:
    source = folder / name
    source.mkdir()
    (source / "package.py").write_text(f"def extra(x):\n    return {body}\n")
    environment = EnvironmentSpec({}, "", Path(sys.prefix), {"OMP_NUM_THREADS": "1"})
    version = Version(name * 40, {"torch": "2.15.0"}, "3.11")
    return Side(name, source, environment, folder / "benchmarks", version)


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    suites = tmp_path / "benchmarks"
    suites.mkdir()
    (suites / "__init__.py").touch()
    (suites / "suite.py").write_text(SUITE)
    folders = suites, tmp_path / "results", tmp_path / "html", tmp_path / "env"
    declared = Declared(profiler=Path(operators.__file__))
    configuration = Configuration("main", *folders, (), tmp_path, declared=declared)
    return Workplace(tmp_path, configuration, (), "desk")


def test_a_planted_slow_operator_comes_first_and_is_stored(
    workplace: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planted = "[x.flatten().cumsum(0) for _ in range(50)]"
    sides = _side(tmp_path, "a", "x"), _side(tmp_path, "b", planted)
    explanation = explain_case(workplace, sides, CASE, rounds=2)
    assert not Path("kept").exists(), "a suite's cache is not left in the checkout"
    first = explanation.operators[0]
    assert (first.name, first.calls, first.clear) == ("aten::cumsum", (0.0, 50.0), True)
    assert first.shapes.startswith("[[28800]")
    assert 0 < first.difference <= 1.5 * (explanation.seconds[1] - explanation.seconds[0])
    added = {name: after - before for name, (before, after) in explanation.counts.items()}
    assert added.pop("dispatches") >= 50 * 2  # each with its view
    assert added == {"allocations": 50, "allocated_bytes": 50 * 28800 * 4, "flops": 0}
    assert explanation.counts["flops"][0] >= 2 * 4 * 8 * 30 * 30 * 27  # the convolution's
    text = report(explanation, "A", "B")
    assert re.search(r"(\d+ %|[Aa]ll) of it: aten::cumsum, 0 → ", text)
    path = tmp_path / "results" / "desk" / EXPLANATIONS
    [stored], problems = read_stored(path, StoredExplanation, "explanation")
    assert problems == ()
    versions = tuple(side.version for side in sides)
    assert (stored.case, stored.before, stored.after) == (CASE.name, *versions)
    assert stored.explanation == explanation


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"identity": "suite.Suite.time_it-1"}, "x is skipped on a"),
        ({"identity": "suite.Suite.time_it-2"}, "x on a was not profiled: .* no profile"),
        ({"can_fork": False}, "times nothing on the CPU"),
        ({"timeout": 0.01}, "x on a was not profiled: no answer"),
    ],
)
def test_a_case_that_cannot_be_profiled_is_refused(
    workplace: Workplace, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    side = _side(tmp_path, "a", "x")
    with pytest.raises(WatchError, match=message):
        explain_case(workplace, (side, side), replace(CASE, **changed))


VERBOSE = """onednn_verbose,v1,info,oneDNN v3.7.1
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation
onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_inference,src:f32,attr,alg:convolution_direct,mb4_ic3oc8,0.25
onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_inference,src:f32,attr,alg:convolution_direct,mb4_ic3oc8,0.75
onednn_verbose,exec,cpu,matmul,ref:any,undef,src:f32,attr,,4x5:5x6,2.5
onednn_verbose,v1,primitive,exec,cpu,reorder,broken line
something else,exec,cpu,matmul,ref:any,undef,src:f32,attr,,4x5:5x6,2.5
"""


def test_what_onednn_prints_is_read() -> None:
    names = "primitive", "implementation", "problem"
    convolution = "convolution", "brg_conv_fwd:avx512_core", "mb4_ic3oc8"
    matmul = "matmul", "ref:any", "4x5:5x6"
    expected = [dict(zip(names, kernel, strict=True)) for kernel in (convolution, matmul)]
    assert parse_kernels(VERBOSE) == expected
