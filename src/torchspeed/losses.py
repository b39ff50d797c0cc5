"""Losses that workloads train with, and objectives of their backward passes."""

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

Loss = Callable[[Tensor, Tensor], Tensor]
"""Maps (output, target) to a scalar."""

squared_error = functional.mse_loss
cross_entropy = functional.cross_entropy


def negative_log_likelihood(output: Tensor, target: Tensor) -> Tensor:
    """Cross-entropy of probabilities, (batch, classes), as Flux's ``crossentropy`` takes them."""
    return functional.nll_loss(output.log(), target)


def sum_of_output(output: Tensor, target: Tensor) -> Tensor:
    """FluxBench's objective of a backward pass, ``sum(model(x))``; the target is not used."""
    del target
    return output.sum()
