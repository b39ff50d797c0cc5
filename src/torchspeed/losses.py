"""What workloads train with, and what their backward passes take the gradient of."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss, nll_loss

Loss = Callable[[Tensor, Tensor], Tensor]
"""(output, target) to a scalar."""

__all__ = [
    "Loss",
    "cross_entropy",
    "negative_log_likelihood",
    "squared_error",
    "sum_of_output",
]

squared_error = mse_loss


def negative_log_likelihood(output: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of probabilities, as Flux's ``crossentropy`` takes them.

    Args:
        output: probabilities, ``(batch, classes)``.
        target: class indices, ``(batch,)``.
    """
    return nll_loss(output.log(), target)


def sum_of_output(output: Tensor, target: Tensor) -> Tensor:
    """FluxBench's objective of a backward pass, ``sum(model(x))``; the target is not used."""
    del target
    return output.sum()
