"""An alternative is the same function as our model, or its time says nothing."""

from __future__ import annotations

import re

import pytest
import torch

from tools.compare_formulations import FORMULATIONS, main
from torchspeed.workloads import get_workload


@pytest.mark.parametrize("name", FORMULATIONS)
def test_an_alternative_is_the_same_function_with_the_same_gradients(name: str) -> None:
    model = get_workload(name).create_model().eval()
    x = get_workload(name).example_inputs(4).requires_grad_()
    expected = model(x)
    (gradient,) = torch.autograd.grad(expected.sum(), x)
    for make in FORMULATIONS[name].values():
        other = make(model).eval()
        output = other(x)
        torch.testing.assert_close(output, expected)
        torch.testing.assert_close(torch.autograd.grad(output.sum(), x)[0], gradient)
        assert sum(p.numel() for p in other.parameters()) == sum(
            p.numel() for p in model.parameters()
        )


def test_the_table_has_a_line_for_each_pass(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(FORMULATIONS, "dsanet")
    assert main(["--seconds", "0.01"]) == 0
    printed = capsys.readouterr().out
    for which in ("forward", "recorded", "backward"):
        line = rf"\| tpa_lstm \| loop over steps \| {which} \| [\d.]+ ms \| \d+\.\d\dx \["
        assert re.search(line, printed)


def test_no_time_is_an_error_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seconds", "0"]) == 1
    assert capsys.readouterr().err == "torchspeed: --seconds is 0.0; it must be more than 0\n"
