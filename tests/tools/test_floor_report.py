"""The report has a line for each pass, and the operators add up to what was profiled."""

from __future__ import annotations

import re

import pytest
import torch

from tools.floor_report import Share, main, operator_table, shares
from torchspeed.measure.costs import Costs
from torchspeed.measure.floor import PassWork
from torchspeed.measure.operations import record


def test_the_table_has_a_line_a_pass_and_the_operators_of_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lenet5", "--seconds", "0", "--operators"]) == 0
    printed = capsys.readouterr().out
    assert f"torch {torch.__version__}, one thread, eager; load " in printed
    ratio = r"\d+\.\d\d \[\d+\.\d\d, \d+\.\d\d\]"
    for which, dispatches in (("forward", 13), ("backward", 79)):
        line = rf"\| `lenet5` \| {which} \| {dispatches} \| [\d.]+ \| [\d.]+ \| {ratio} \|"
        assert re.search(line, printed)
        assert f"`lenet5` {which}:\n" in printed
    assert re.search(r"\| convolution_backward \| 2 \| [\d.]+ \| \d+ % \| [\d.]+ \|", printed)


def test_an_operator_counts_with_those_that_it_calls() -> None:
    torch.set_num_threads(1)
    x = torch.randn(2000, 2000)

    def run() -> object:
        return x.clone().view(-1).t()

    costs = Costs(1e-6, {2**25: 1e10}, {}, 1.0)
    by_operator = shares(run, PassWork(record(run), 0), costs)
    assert list(by_operator) == ["aten::clone"]
    clone = by_operator["aten::clone"]
    assert clone.calls == 1
    # The copying belongs to it, which no single thread does at 1 TB/s.
    assert clone.seconds > 2 * 4 * 2000**2 / 1e12
    assert clone.floor_seconds == pytest.approx(1e-6 + 2 * 4 * 2000**2 / 1e10)


def test_operators_far_from_their_floors_come_first_and_all_add_up_to_the_pass() -> None:
    near, far = Share(2, 4e-3, 3.9e-3), Share(1, 1e-3, 1e-4)
    lines = list(operator_table({"aten::mm": near, "aten::tanh": far}, pass_seconds=10e-3))
    assert lines[2:] == [
        "| views, autograd, Python |  | 5.000 | 50 % | 0.000 |",
        "| tanh | 1 | 1.000 | 10 % | 0.100 |",
        "| mm | 2 | 4.000 | 40 % | 3.900 |",
    ]


def test_a_compiled_pass_is_shown_by_its_loops(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["lenet5", "--mode", "compiled", "--seconds", "0", "--operators"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "| loop or operator | calls | time, ms | of the pass |" in printed
    assert re.search(r"\| mkldnn_convolution \| 2 \| [\d.]+ \| \d+ % \|", printed)
    assert re.search(r"\| loop \w*maximum_relu\w* \| 1 \| [\d.]+ \| \d+ % \|", printed)
    assert re.search(r"\| convolution_backward \| 2 \| [\d.]+ \| \d+ % \|", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["resnet18"], "no floor for model 'resnet18'; there are darnn, dsanet, lstnet,"),
        (["--seconds", "nan"], "--seconds is nan; it must be 0 or more"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"torchspeed: {message}")
    assert printed.err.count("\n") == 1
