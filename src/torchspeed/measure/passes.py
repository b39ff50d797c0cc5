"""The two passes of a workload, built once and ready to be timed."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import TypeVar

import torch
from torch import Tensor

from torchspeed.measure import compilation
from torchspeed.models import Implementation
from torchspeed.workloads import get_workload

MODES = ("eager", "compiled", "cudagraph")
"""How a pass runs: operator by operator; through ``torch.compile``; as one CUDA graph."""

PRECISIONS = ("fp32", "bf16")
"""float32 throughout, as in models' sources; or autocast to bfloat16, parameters in float32."""

LAYOUTS = ("contiguous", "channels_last")
"""One channel plane after the other, as in models' sources; or all channels pixel by pixel."""

WARM_UPS = 3
"""Runs before a capture, as ``torch.cuda.make_graphed_callables`` has them: libraries choose
kernels and make their workspaces, which a capture must not see."""

Found = TypeVar("Found")


def _require(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")


class Passes:
    """A workload's model and inputs on a device, with a forward and a backward pass.

    The passes synchronise nothing: the clock does (`torchspeed.measure.clocks`).
    """

    def __init__(
        self,
        workload: str,
        device: str,
        batch: int | None = None,
        mode: str = "eager",
        precision: str = "fp32",
        layout: str = "contiguous",
        implementation: Implementation = "tuned",
    ) -> None:
        """Build model, inputs and targets; ``batch`` is the workload's own by default.

        `CapturedPasses` records the graphs of mode ``cudagraph``.

        Raises:
            ValueError: no such workload, mode, precision, layout or implementation, a layout that
                its inputs cannot have, a CUDA graph on a CPU, or ``device`` is not here.
        """
        _require("mode", mode, MODES)
        if mode == "cudagraph" and torch.device(device).type != "cuda":
            raise ValueError(
                f"mode 'cudagraph' is for CUDA devices, not for {device!r}; use 'eager' or "
                "'compiled'"
            )
        _require("precision", precision, PRECISIONS)
        _require("layout", layout, LAYOUTS)
        recipe = get_workload(workload)
        self.inputs = recipe.example_inputs(batch, device)
        self.targets = recipe.example_targets(batch, device)
        self.model = recipe.create_model(device=device, implementation=implementation).eval()
        if layout == "channels_last":
            if self.inputs.dim() != 4:
                raise ValueError(
                    "layout 'channels_last' is for images of 4 axes, not for "
                    f"{tuple(self.inputs.shape)}; use 'contiguous'"
                )
            self.inputs = self.inputs.to(memory_format=torch.channels_last)
            self.model = self.model.to(memory_format=torch.channels_last)
        model: Callable[[Tensor], Tensor] = self.model
        if mode == "compiled":
            on_cpu = self.inputs.device.type == "cpu"
            options = recipe.cpu_compile_options if on_cpu else {}
            model = compilation.compiled(self.model, options)
        self._call, self._objective = model, recipe.objective
        if precision == "bf16":
            # Products and convolutions in bfloat16, gradients in the format of their forward pass.
            autocast = torch.autocast(self.inputs.device.type, torch.bfloat16)
            self._call, self._objective = autocast(model), autocast(self._objective)
        # Flux's DSANet has parameters that nothing uses.
        self.parameters = [p for p in self.model.parameters() if p.requires_grad]

    @torch.inference_mode()
    def forward(self) -> Tensor:
        """Run one inference, in evaluation mode without a graph, and return the output."""
        self.set_training(False)
        return self._call(self.inputs)

    def backward(self) -> tuple[Tensor, ...]:
        """Run one forward in training mode and compute the gradient of the objective.

        The gradient is with respect to every trainable parameter and, as in FluxBench, the input
        unless that is tokens; the gradients are returned in this order.
        """
        self.set_training(True)
        output = self._call(self.inputs)
        objective = self._objective(output, self.targets)
        inputs = [self.inputs] if self.inputs.requires_grad else []
        return torch.autograd.grad(objective, [*self.parameters, *inputs])

    def set_training(self, training: bool) -> None:
        """Choose the mode of the model; in training, gradients reach the inputs."""
        # Switching walks all modules, which takes 0.1 ms in large models: only where needed.
        if self.model.training is not training:
            self.model.train(training)
            if self.inputs.is_floating_point():
                self.inputs.requires_grad_(training)


def capture(run: Callable[[], Found], device: torch.device) -> tuple[Callable[[], None], Found]:
    """Record a function that never synchronises as a graph, after a warm-up on its own stream.

    Returns:
        A function that replays the graph, and the results of the work. They hold no values
        before the first replay, and every replay overwrites them.
    """
    current, side = torch.cuda.current_stream(device), torch.cuda.Stream(device)
    side.wait_stream(current)
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            run()
    current.wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.device(device), torch.cuda.graph(graph):
        results = run()
    return graph.replay, results


class CapturedPasses:
    """The passes of a workload, each one CUDA graph that is fed new values at every call.

    A graph launches all kernels in one call; in exchange every shape and address is fixed. A pass
    does what a user of the graph does: it copies a batch from elsewhere on the device into the
    graph's buffers, and replays. It returns what the pass of `Passes` does, in tensors that its
    next call overwrites.
    """

    def __init__(self, passes: Passes) -> None:
        self.inputs, self.targets = passes.inputs.detach().clone(), passes.targets.clone()
        fed = (passes.inputs, self.inputs), (passes.targets, self.targets)
        self.forward = _replayed(passes.forward, fed[:1])
        self.backward = _replayed(passes.backward, fed)


def _replayed(
    run: Callable[[], Found], fed: Sequence[tuple[Tensor, Tensor]]
) -> Callable[[], Found]:
    """Return a function that copies values into buffers, each (buffer, values), and replays.

    Its first call records the graph.
    """
    graph = cache(partial(capture, run, fed[0][0].device))

    def replayed() -> Found:
        with torch.no_grad():
            for buffer, values in fed:
                buffer.copy_(values)
        replay, results = graph()
        replay()
        return results

    return replayed


@lru_cache(maxsize=1)
def passes(
    workload: str,
    device: str,
    batch: int | None = None,
    mode: str = "eager",
    precision: str = "fp32",
    layout: str = "contiguous",
    implementation: Implementation = "tuned",
) -> Passes | CapturedPasses:
    """Return the passes of a case, built at the first call and kept while the case runs.

    asv calls ``setup`` before every sample; without this cache passes would be built each time.

    Raises:
        ValueError: for the reasons that `Passes` names.
    """
    built = Passes(workload, device, batch, mode, precision, layout, implementation)
    return CapturedPasses(built) if mode == "cudagraph" else built
