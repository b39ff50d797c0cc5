"""A pretrained forecaster that reads a window once and forecasts step by step."""

import warnings
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from torchspeed.workloads import get_workload

PRECISIONS = ("float32", "bfloat16", "int8")
"""Of parameters and values; int8 has float32 values, which each linear map rounds at each call."""


class Generation:
    """A plain model with its window, and what it keeps of it."""

    def __init__(self, workload: str, device: str, precision: str) -> None:
        """Build the model in one of `PRECISIONS` (int8 on a CPU only), and read the window."""
        recipe = get_workload(workload)
        self.inputs = recipe.example_inputs(device=device)
        self.model: Any = recipe.create_model(device=device, implementation="plain").eval()
        if precision == "bfloat16":
            self.model, self.inputs = self.model.bfloat16(), self.inputs.bfloat16()
        elif precision == "int8":
            with warnings.catch_warnings():  # deprecated in favour of torchao, another package
                warnings.simplefilter("ignore")
                self.model = torch.ao.quantization.quantize_dynamic(self.model, {nn.Linear})
        self.state = self.prefill()

    @torch.inference_mode()
    def prefill(self) -> Any:
        """Read the window, and return what forecasts need of it."""
        return self.model.prefill(self.inputs)

    @torch.inference_mode()
    def next_step(self) -> Any:
        """Forecast the steps after the window, and read them where the model does so."""
        return self.model.next_step(self.state)


generation = lru_cache(maxsize=1)(Generation)
