"""Show that AOTInductor gives wrong numbers for a convolution of a size that is in the data.

Run it on a CPU with torch and g++. It prints how much each way to run the model differs from the
eager one, whose largest number is 2.5. The last one raises an AssertionError.
"""

import torch
from torch import Tensor, nn


class Model(nn.Conv2d):
    """Convolves an image of so many times 8 rows, and adds 1."""

    def forward(self, x: Tensor, times: Tensor) -> Tensor:  # type: ignore[override]
        """Map (batch, 4, 8, 8) to (batch, 4, 8 * times, 8)."""
        return super().forward(x.repeat(1, 1, times.item(), 1)) + 1  # type: ignore[arg-type]


torch.manual_seed(0)
model, inputs = Model(4, 4, 3, padding=1).eval(), (torch.randn(2, 4, 8, 8), torch.tensor(3))
with torch.no_grad():
    expected, exported = model(*inputs), torch.export.export(model, inputs)
    print("torch.export", (exported.module()(*inputs) - expected).abs().max())
    package = torch._inductor.aoti_compile_and_package(exported)
    ahead_of_time = torch._inductor.aoti_load_package(package)
    print("AOTInductor", (ahead_of_time(*inputs) - expected).abs().max())
    print("torch.compile", (torch.compile(model)(*inputs) - expected).abs().max())
    torch.compiler.reset()
    torch._dynamo.config.capture_scalar_outputs = True  # one graph, as for AOTInductor
    torch.compile(model)(*inputs)
