"""A training step with AdamW and what people add to it."""

from functools import lru_cache

import torch

from torchspeed.workloads import get_workload

ADDITIONS = ("nothing", "clipping", "bf16", "accumulation")
"""Gradients clipped to a norm of 1; autocast; or four parts of a batch whose gradients add up."""

PARTS, RATE = 4, 1e-4


class TrainingStep:
    """A plain model, AdamW and one batch that is already on the device."""

    def __init__(self, workload: str, device: str, optimiser: str, addition: str) -> None:
        """Build model and batch, and AdamW, which is ``"foreach"`` or ``"fused"``.

        Raises:
            ValueError: no such workload, or ``device`` is not here.
            NotImplementedError: this torch has no fused AdamW for the device.
        """
        recipe = get_workload(workload)
        self.addition, self._loss = addition, recipe.loss
        parts = PARTS if addition == "accumulation" else 1
        inputs = recipe.example_inputs(device=device)
        targets = recipe.example_targets(device=device)
        self._parts = list(zip(inputs.chunk(parts), targets.chunk(parts), strict=True))
        self.model = recipe.create_model(device=device, implementation="plain")
        self.parameters = [p for p in self.model.parameters() if p.requires_grad]
        try:
            foreach, fused = optimiser == "foreach", optimiser == "fused"
            self._optimiser = torch.optim.AdamW(
                self.parameters, lr=RATE, foreach=foreach, fused=fused
            )
        except RuntimeError as error:
            raise NotImplementedError(f"this torch has no such AdamW: {error}") from error
        is_bf16 = addition == "bf16"
        self._autocast = torch.autocast(inputs.device.type, torch.bfloat16, enabled=is_bf16)

    def step(self) -> None:
        """Run forward, loss and backward of each part, and change the parameters once."""
        for inputs, targets in self._parts:
            with self._autocast:
                loss = self._loss(self.model(inputs), targets) / len(self._parts)
            loss.backward()
        if self.addition == "clipping":
            torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad()


training_step = lru_cache(maxsize=1)(TrainingStep)
