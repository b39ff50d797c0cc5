"""Counts the work of a workload, which has no noise.

Times say how long the work took; these values say how much there was, and are the same in
every run, so a change in *work* shows even where noise hides the change in time.

- **FLOPs**: two for each multiply-add of matrix products, convolutions, attention and
  recurrent kernels. Elementwise arithmetic is not counted.
- **Dispatches**: operators that compute something (`torchspeed.measure.operations`).
  Each is a call from the interpreter, on a GPU a kernel launch at least.
- **Bytes** of the parameters, and of the activations: what autograd keeps between
  forward and backward, every storage once, parameters and inputs left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import torch
from torch import Tensor, nn
from torch.func import functional_call

from torchspeed.measure.operations import dense_parts, record
from torchspeed.measure.passes import OfBothPasses, Passes
from torchspeed.models import Implementation


@dataclass(frozen=True)
class Work:
    """The work of one forward or backward pass."""

    flops: int
    dispatches: int


@dataclass(frozen=True)
class WorkOfWorkload(OfBothPasses[Work]):
    """The work of both passes, and the memory."""

    parameter_bytes: int
    activation_bytes: int


def count(run: Callable[[], object]) -> Work:
    """Count the FLOPs and dispatches of ``run``.

    ``run`` must not enter ``torch.inference_mode``, where composite operators stay whole
    and products inside them are not seen.
    """
    operations = record(run)
    return Work(sum(operation.flops for operation in operations), len(operations))


def activation_bytes_of_item(model: nn.Module, shape: Sequence[int]) -> int:
    """Return the bytes that autograd keeps for the backward pass of one item.

    Args:
        model: on any device, in either mode.
        shape: of an item.

    Returns:
        Bytes; 0 for a model that needs values, not only shapes. What only a CPU's kernel keeps,
        such as that of an LSTM, is left out.
    """
    state = _state_without_values(model)

    def kept(items: int) -> int:
        inputs = torch.empty(items, *shape, device="meta")
        run = partial(functional_call, model, state, (inputs,))
        return activation_bytes(run, [*state.values(), inputs])

    try:
        return kept(3) - kept(2)
    except RuntimeError:
        return 0


def _state_without_values(model: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers with shapes but no values, so that nothing is computed."""
    tensors = chain(model.named_parameters(), model.named_buffers())
    return {
        name: torch.empty_like(tensor, device="meta", requires_grad=tensor.requires_grad)
        for name, tensor in tensors
    }


def parameter_bytes(model: nn.Module) -> int:
    """Return the bytes of all parameters, each once."""
    return sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())


def activation_bytes(run: Callable[[], Tensor], apart_from: list[Tensor]) -> int:
    """Return the bytes that autograd keeps for the backward pass of ``run``.

    Args:
        run: computes the tensor that a backward pass would start from.
        apart_from: tensors that existed before, such as parameters and inputs.
    """
    before = {tensor.untyped_storage()._cdata for tensor in apart_from}
    kept: dict[int, int] = {}

    def note(tensor: Tensor) -> Tensor:
        for part in dense_parts(tensor):
            storage = part.untyped_storage()
            if storage._cdata not in before:
                kept[storage._cdata] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = run()
    total = sum(kept.values())
    del result  # until here it held the graph, and so every storage that was counted
    return total


class CountablePasses(Passes):
    """The passes of a workload on the CPU, for counting: outside ``inference_mode``."""

    def __init__(
        self,
        workload: str,
        batch: int | None = None,
        implementation: Implementation = "tuned",
    ) -> None:
        super().__init__(workload, "cpu", batch, implementation=implementation)

    @torch.no_grad()
    def forward(self) -> Tensor:
        """Run one inference in evaluation mode and return the output."""
        self.set_training(False)
        output: Tensor = self.model(self.inputs)
        return output

    def activation_bytes(self) -> int:
        """Return the bytes that autograd keeps from forward to backward."""
        self.set_training(True)

        def objective() -> Tensor:
            return self._objective(self._call(self.inputs), self.targets)

        return activation_bytes(objective, [self.inputs, *self.parameters, self.targets])


def work_of(
    workload: str, batch: int | None = None, implementation: Implementation = "tuned"
) -> WorkOfWorkload:
    """Count the work of a workload on the CPU, at its own batch unless given.

    Raises:
        ValueError: no such workload or implementation, or a batch below 1.
    """
    passes = CountablePasses(workload, batch, implementation)
    return WorkOfWorkload(
        count(passes.forward),
        count(passes.backward),
        parameter_bytes(passes.model),
        passes.activation_bytes(),
    )
