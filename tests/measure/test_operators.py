"""Single operators: they call what their names say, in every format, and say what they lack."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from benchmarks.operators import LARGE, SMALL
from torchspeed.measure.operators import FORMATS, OPERATORS, OperatorPasses

RANDOM = {"dropout", "attention_dropout"}
"""What they draw is not that of another call."""


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


@pytest.mark.parametrize("operator", sorted(set(OPERATORS) - RANDOM))
def test_formats_differ_by_rounding_only(operator: str) -> None:
    """Operands are drawn before they are rounded, so formats compute the same numbers."""
    full, half = (
        OperatorPasses(operator, "cpu", number_format, SMALL[operator]).forward().float()
        for number_format in ("fp32", "bf16")
    )
    assert torch.linalg.vector_norm(half - full) < 0.02 * torch.linalg.vector_norm(full)


@pytest.mark.parametrize(
    ("message", "error", "shown"),
    [
        (
            "\"addmm_impl_cpu_\" not implemented for 'Half'\nat somewhere.cpp",
            NotImplementedError,
            r"linear in fp16 on cpu: .*'Half'$",
        ),
        ("out of memory", RuntimeError, "^out of memory$"),
    ],
)
def test_what_a_release_cannot_compute_is_skipped_in_its_own_words_and_all_else_fails(
    message: str, error: type[Exception], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError(message)

    monkeypatch.setitem(OPERATORS, "linear", lambda draw: (fail, (draw.normal(2),)))
    with pytest.raises(RuntimeError, match=shown) as raised:
        OperatorPasses("linear", "cpu", "fp16", {}).require("forward")
    assert raised.type is error


def test_sizes_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match=r"sizes of add do not fit: .*columns"):
        OperatorPasses("add", "cpu", "fp32", {"rows": 2})
