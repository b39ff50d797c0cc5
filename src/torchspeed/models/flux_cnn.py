"""The small convolutional network of Flux's 60-minute tutorial."""

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


@register_model("flux_cnn")
class FluxCNN(nn.Module):
    """Two convolutions and three dense layers on CIFAR-10 images, ending in softmax.

    As in "GPU vs CPU benchmarks with Flux.jl" (2021): no nonlinearity between the
    dense layers, and probabilities out. Its loss is the negative logarithm of the
    true class's probability, summed or averaged; ``torch.nn.CrossEntropyLoss``, which wants
    scores before the softmax, does not fit. 39,558 parameters.

    Maps (batch, 3, 32, 32) to (batch, 10) probabilities. Takes no arguments.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 5)
        self.conv2 = nn.Conv2d(16, 8, 5)
        self.dense1 = nn.Linear(200, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Return the probability of each class, (batch, 10)."""
        check_input(x, "batch, channels, height, width", (3, 32, 32), self.conv1.weight)
        x = max_pool2d(torch.relu(self.conv1(x)), 2)  # (batch, 16, 14, 14)
        x = max_pool2d(torch.relu(self.conv2(x)), 2)  # (batch, 8, 5, 5)
        x = self.dense1(x.flatten(1))  # (batch, 120)
        x = self.dense3(self.dense2(x))  # (batch, 10)
        return x.softmax(1)
