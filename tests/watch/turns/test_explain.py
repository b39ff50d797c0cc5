"""A planted slow operator comes first, and oneDNN's kernels are read and compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from torchspeed.errors import TorchspeedError
from torchspeed.measure.probes.operators import parse_kernels
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.turns.explain import compare_profiles, explain
from torchspeed.watch.turns.explain_report import report
from torchspeed.watch.turns.processes import TimedCase
from torchspeed.watch.turns.sides import Side

SUITE = """
import torch
from package import extra


class Suite:
    params = ["plain", "absent"]

    def setup(self, how):
        print("what a suite prints is no profile")
        if how == "absent":
            raise NotImplementedError("nobody has it")
        self.images = torch.ones(4, 3, 32, 32)
        self.convolution = torch.nn.Conv2d(3, 8, 3)

    def time_it(self, how):
        with torch.inference_mode():
            extra(torch.relu(self.convolution(self.images)))
"""


def _side(folder: Path, name: str, body: str) -> Side:
    source = folder / name
    source.mkdir()
    (source / "package.py").write_text(f"def extra(x):\n    return {body}\n")
    return Side(name, source, Pair("", "", "", Path(sys.prefix), {"OMP_NUM_THREADS": "1"}))


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "suite.py").write_text(SUITE)
    return folder


def test_a_planted_slow_operator_comes_first(suites: Path, tmp_path: Path) -> None:
    sides = _side(tmp_path, "A", "x"), _side(tmp_path, "B", "x.flatten().cumsum(0)")
    explanation = explain(
        sides, suites, TimedCase("a case", "suite.Suite.time_it-0", 300.0), rounds=2
    )
    first = explanation.operators[0]
    assert first.name == "aten::cumsum"
    assert first.shapes.startswith("[[28800]")
    assert first.calls == (0.0, 1.0)
    assert first.clear
    assert 0 < first.difference <= 1.5 * (explanation.seconds[1] - explanation.seconds[0])
    text = report(explanation, "A", "B")
    assert "The largest part is aten::cumsum: +" in text
    back = explain(
        sides[::-1], suites, TimedCase("a case", "suite.Suite.time_it-0", 300.0), rounds=1
    )
    assert back.operators[0].name == "aten::cumsum"
    assert back.operators[0].difference < 0


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (TimedCase("x", "suite.Suite.time_it-1", 300.0), "x is skipped on A"),
        (TimedCase("x('cuda')", "suite.Suite.time_it-0", 300.0), "runs on CUDA"),
        (TimedCase("x", "suite.Suite.time_it-0", 0.01), "x on A was not profiled in 0.01 s"),
    ],
)
def test_a_case_that_cannot_be_profiled_is_refused(
    suites: Path, tmp_path: Path, case: TimedCase, message: str
) -> None:
    side = _side(tmp_path, "A", "x")
    with pytest.raises(TorchspeedError, match=message.replace("(", r"\(")):
        explain((side, side), suites, case)


VERBOSE = """onednn_verbose,v1,info,oneDNN v3.7.1
onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation
onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_inference,src:f32,attr,alg:convolution_direct,mb4_ic3oc8,0.25
onednn_verbose,v1,primitive,exec,cpu,convolution,brg_conv_fwd:avx512_core,forward_inference,src:f32,attr,alg:convolution_direct,mb4_ic3oc8,0.75
onednn_verbose,exec,cpu,matmul,ref:any,undef,src:f32,attr,,4x5:5x6,2.5
onednn_verbose,v1,primitive,exec,cpu,reorder,broken line
something else,exec,cpu,matmul,ref:any,undef,src:f32,attr,,4x5:5x6,2.5
"""


def test_what_onednn_prints_is_read() -> None:
    assert parse_kernels(VERBOSE) == [
        {
            "primitive": "convolution",
            "implementation": "brg_conv_fwd:avx512_core",
            "problem": "mb4_ic3oc8",
            "calls": 2,
            "seconds": pytest.approx(0.001),
        },
        {
            "primitive": "matmul",
            "implementation": "ref:any",
            "problem": "4x5:5x6",
            "calls": 1,
            "seconds": pytest.approx(0.0025),
        },
    ]


def _profile(implementation: str, **seconds: float) -> dict[str, Any]:
    return {
        "operators": [
            {"name": name, "shapes": "[]", "calls": 1.0, "seconds": value}
            for name, value in seconds.items()
        ],
        "kernels": [
            {
                "primitive": "convolution",
                "implementation": implementation,
                "problem": "mb4",
                "calls": 1,
                "seconds": 1.0,
            }
        ],
    }


def test_a_kernel_that_changed_and_only_operators_beyond_their_noise_are_named() -> None:
    fast, slow = "brg:avx512", "ref:any"
    before = [_profile(fast, slow=1.0, noisy=1.0), _profile(fast, slow=1.1, noisy=9.0)]
    after = [_profile(slow, slow=2.0, noisy=8.0), _profile(slow, slow=2.1, noisy=8.0)]
    explanation = compare_profiles(before, after)
    assert [(one.name, one.clear) for one in explanation.operators] == [
        ("slow", True),
        ("noisy", False),
    ]
    text = report(explanation, "A", "B")
    assert "oneDNN convolution mb4: brg:avx512 → ref:any" in text
    assert "noisy" not in text
    assert "The largest part is slow: +1000 ms." in text
    unchanged = report(compare_profiles(before, before), "A", "B")
    assert "No operator differs clearly from its own noise." in unchanged
    assert "oneDNN" not in unchanged
