"""ResNet-18 for MNIST, as a benchmark of PyTorch and Flux has it."""

from torch import Tensor, nn

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


@register_model("resnet18_mnist")
class ResNet18MNIST(nn.Module):
    """torchvision's ResNet-18 with a stem of one channel and ten classes.

    K. He et al., "Deep Residual Learning for Image Recognition", CVPR 2016,
    arXiv:1512.03385, table 1; the stem and classes of the-praxs/dl-benchmark. Images
    are 28 x 28 there too, so the last pooling averages a single value.
    11,175,370 parameters.

    Maps (batch, 1, 28, 28) to (batch, 10) scores, before a softmax. Takes no arguments.
    """

    def __init__(self) -> None:
        from torchvision.models import resnet18  # noqa: PLC0415 - a second, on first use only

        super().__init__()
        self.resnet = resnet18(num_classes=10)
        self.resnet.conv1 = nn.Conv2d(1, 64, 7, stride=2, padding=3, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the score of each class, (batch, 10)."""
        check_input(x, "batch, channels, height, width", (1, 28, 28), self.resnet.conv1.weight)
        return self.resnet(x)  # type: ignore[no-any-return]
