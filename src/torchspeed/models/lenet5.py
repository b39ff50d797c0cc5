"""LeNet-5, as an MNIST benchmark of PyTorch and Flux has it."""

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


@register_model("lenet5")
class LeNet5(nn.Module):
    """LeNet-5 with relu and max pooling, for images of 28 x 28.

    After Y. LeCun et al., "Gradient-Based Learning Applied to Document Recognition",
    Proc. IEEE 1998, section II.B, in the form of the-praxs/dl-benchmark and of Flux's
    model zoo: no padding, all maps connected, relu instead of sigmoids, max
    pooling instead of averages. 44,426 parameters.

    Maps (batch, 1, 28, 28) to (batch, 10) scores, before a softmax. Takes no arguments.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.dense1 = nn.Linear(256, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Return the score of each class, (batch, 10)."""
        check_input(x, "batch, channels, height, width", (1, 28, 28), self.conv1.weight)
        x = max_pool2d(torch.relu(self.conv1(x)), 2)  # (batch, 6, 12, 12)
        x = max_pool2d(torch.relu(self.conv2(x)), 2)  # (batch, 16, 4, 4)
        x = torch.relu(self.dense1(x.flatten(1)))  # (batch, 120)
        x = torch.relu(self.dense2(x))  # (batch, 84)
        return self.dense3(x)  # type: ignore[no-any-return]
