"""Single operators: they call what their names say, in every format, and say what they lack."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from benchmarks.operators import LARGE, SMALL
from torchspeed.measure.operators import FORMATS, OPERATORS, OperatorPasses


def test_every_operator_has_both_sizes() -> None:
    assert set(SMALL) == set(LARGE) == set(OPERATORS)


@pytest.mark.parametrize("number_format", FORMATS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_both_passes_compute_in_the_format_asked_for(operator: str, number_format: str) -> None:
    passes = OperatorPasses(operator, "cpu", number_format, SMALL[operator])
    output, gradients = passes.forward(), passes.backward()
    for tensor in (output, *gradients):
        assert tensor.dtype == FORMATS[number_format]
        assert tensor.isfinite().all()
    assert not output.requires_grad
    assert any(bool(gradient.any()) for gradient in gradients)


@pytest.mark.parametrize("operator", OPERATORS)
def test_formats_differ_by_rounding_only(operator: str) -> None:
    """Operands are drawn before they are rounded, so formats compute the same numbers."""
    full, half = (
        OperatorPasses(operator, "cpu", number_format, SMALL[operator]).forward().float()
        for number_format in ("fp32", "bf16")
    )
    assert torch.linalg.vector_norm(half - full) < 0.02 * torch.linalg.vector_norm(full)


def test_what_a_release_cannot_compute_is_skipped_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lacking(*_: Any) -> Any:
        raise RuntimeError("\"addmm_impl_cpu_\" not implemented for 'Half'\nat somewhere.cpp")

    monkeypatch.setitem(OPERATORS, "linear", lambda draw: (lacking, (draw.normal(2),)))
    with pytest.raises(NotImplementedError, match=r"linear in fp16 on cpu: .*'Half'$"):
        OperatorPasses("linear", "cpu", "fp16", {}).require("forward")


def test_another_error_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("out of memory")

    monkeypatch.setitem(OPERATORS, "linear", lambda draw: (broken, (draw.normal(2),)))
    with pytest.raises(RuntimeError, match="out of memory") as failure:
        OperatorPasses("linear", "cpu", "fp16", {}).require("forward")
    assert not isinstance(failure.value, NotImplementedError)


def test_a_pass_that_has_run_is_not_run_again_to_see_whether_it_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def count(x: torch.Tensor) -> torch.Tensor:
        calls.append(x)
        return x * 1

    monkeypatch.setitem(OPERATORS, "linear", lambda draw: (count, (draw.normal(2),)))
    passes = OperatorPasses("linear", "cpu", "fp32", {})
    passes.require("forward")
    passes.require("forward")
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("operator", "number_format", "sizes", "message"),
    [
        ("add", "fp32", {"rows": 2}, "sizes of add do not fit: .*columns"),
    ],
)
def test_bad_input_is_named(
    operator: str, number_format: str, sizes: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        OperatorPasses(operator, "cpu", number_format, sizes)
