"""Operators that the models are made of, so that a model's change can be traced one level down.

Small sizes are those of the forecasting models and small CNNs, where calling an operator costs
as much as its arithmetic; large ones are those of torchvision's models, where its work dominates.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ._cases import DEVICES
from ._package import from_commit, skip_what_cannot_run
from ._suite import _TimedSuite

ELEMENTWISE = ["dropout", "relu", "gelu", "silu", "hardswish", "hardsigmoid", "softplus"]
SMALL = {
    "linear": {"batch": 300, "inputs": 10, "outputs": 40},
    "conv2d": {"batch": 32, "channels": 6, "filters": 16, "size": 14, "kernel": 5},
    "pointwise_conv2d": {"batch": 8, "channels": 32, "filters": 16, "size": 14, "kernel": 1},
    "depthwise_conv2d": {"batch": 8, "channels": 32, "size": 14, "kernel": 3},
    "max_pool2d": {"batch": 32, "channels": 16, "size": 8, "kernel": 2},
    "lstm": {"batch": 300, "steps": 10, "features": 10, "hidden": 10},
    "gru": {"batch": 300, "steps": 10, "features": 10, "hidden": 10},
    "softmax": {"rows": 300, "columns": 10},
    "layer_norm": {"rows": 300, "columns": 10},
    "batch_norm": {"batch": 32, "channels": 16, "size": 14},
    "attention": {"batch": 100, "heads": 2, "tokens": 10, "width": 8},
    "attention_dropout": {"batch": 100, "heads": 2, "tokens": 10, "width": 8},
    **{name: {"rows": 300, "columns": 10} for name in ELEMENTWISE},
    "moving_average": {"batch": 32, "series": 7, "steps": 96, "kernel": 25},
    "average_pool2d": {"batch": 8, "channels": 32, "size": 14},
    "select": {"rows": 300, "columns": 10},
    "cat": {"rows": 300, "columns": 10},
    "embedding": {"entries": 1000, "width": 16, "lookups": 300},
    "add": {"rows": 300, "columns": 10},
    "index_add": {"rows": 300, "columns": 16, "additions": 300},
    "sparse_mm": {"rows": 300, "columns": 16, "values": 1500},
    "cross_entropy": {"batch": 128, "classes": 10},
}
LARGE = {
    "linear": {"batch": 512, "inputs": 1024, "outputs": 1024},
    "conv2d": {"batch": 5, "channels": 64, "filters": 64, "size": 56, "kernel": 3},
    "pointwise_conv2d": {"batch": 5, "channels": 256, "filters": 64, "size": 56, "kernel": 1},
    "depthwise_conv2d": {"batch": 5, "channels": 256, "size": 56, "kernel": 3},
    "max_pool2d": {"batch": 128, "channels": 6, "size": 24, "kernel": 2},
    "lstm": {"batch": 32, "steps": 20, "features": 256, "hidden": 256},
    "gru": {"batch": 32, "steps": 20, "features": 256, "hidden": 256},
    "softmax": {"rows": 512, "columns": 4096},
    "layer_norm": {"rows": 2048, "columns": 768},
    "batch_norm": {"batch": 5, "channels": 64, "size": 112},
    "attention": {"batch": 4, "heads": 8, "tokens": 256, "width": 64},
    "attention_dropout": {"batch": 4, "heads": 8, "tokens": 256, "width": 64},
    **{name: {"rows": 1024, "columns": 4096} for name in ELEMENTWISE},
    "moving_average": {"batch": 128, "series": 64, "steps": 336, "kernel": 25},
    "average_pool2d": {"batch": 5, "channels": 256, "size": 56},
    "select": {"rows": 1024, "columns": 4096},
    "cat": {"rows": 1024, "columns": 4096},
    "embedding": {"entries": 30000, "width": 256, "lookups": 8192},
    "add": {"rows": 1024, "columns": 4096},
    "index_add": {"rows": 10000, "columns": 256, "additions": 10000},
    "sparse_mm": {"rows": 2708, "columns": 128, "values": 13566},
    "cross_entropy": {"batch": 256, "classes": 10000},
}
SIZES = {"small": SMALL, "large": LARGE}


class _Operator(_TimedSuite):
    """All operands have the case's number format; nothing is cast on the way."""

    params = (list(SMALL), DEVICES, ["fp32", "bf16", "fp16"], list(SIZES))
    param_names = ("operator", "device", "precision", "size")

    pass_name: ClassVar[str]

    def setup(self, operator: str, device: str, precision: str, size: str) -> None:
        skip_what_cannot_run(device)
        if operator not in from_commit("measure.operators", "OPERATORS"):
            raise NotImplementedError(f"this commit has no operator {operator!r}")
        operator_passes = from_commit("measure.operators", "operator_passes")
        self.passes = operator_passes(operator, device, precision, **SIZES[size][operator])
        self.passes.require(self.pass_name)
        self.choose_clock(device)


class Forward(_Operator):
    """The operator alone, without an autograd graph."""

    pass_name = "forward"  # noqa: S105 - of a network, not of a person

    def time_forward(self, *case: Any) -> None:
        """One call."""
        self.passes.forward()


class Backward(_Operator):
    """The operator and the gradients with respect to its operands."""

    pass_name = "backward"  # noqa: S105 - of a network, not of a person

    def time_backward(self, *case: Any) -> None:
        """One call, and its gradients."""
        self.passes.backward()
