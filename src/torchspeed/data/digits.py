"""The embedded images: scikit-learn's 1,797 handwritten digits, resized for a model.

The test set of UCI's Optical Recognition of Handwritten Digits (Alpaydin and
Kaynak, 1998), 8x8 grey. The files come with scikit-learn: nothing to download.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import interpolate
from torch.utils.data import Dataset

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

TRAIN_ITEMS = 1437
"""The first four fifths, as scikit-learn's own examples cut it; writers do not mix much."""


class ResizedDigits(Dataset[tuple[Tensor, int]]):
    """Grey 8x8 images in [0, 1], resized and repeated over channels when read."""

    def __init__(self, images: Tensor, labels: list[int], shape: tuple[int, ...]) -> None:
        self.images = images  # (items, 1, 8, 8)
        self.labels = labels
        self.shape = shape

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        channels, height, width = self.shape
        image = self.images[index : index + 1]  # (1, 1, 8, 8)
        if (height, width) != (8, 8):
            image = interpolate(image, (height, width), mode="bilinear", align_corners=False)
        return image[0].expand(channels, -1, -1), self.labels[index]


def load_digits(options: DataOptions) -> Data:
    """Return the digits at ``options.shape`` (channels, height, width); (1, 8, 8) by default.

    Raises:
        TorchspeedError: scikit-learn is not installed.
    """
    try:
        from sklearn import datasets  # noqa: PLC0415 - optional
    except ImportError:
        raise TorchspeedError(
            "digits comes with scikit-learn, which is not installed; pip install "
            "'torchspeed[train]'"
        ) from None
    bunch = datasets.load_digits()
    images = torch.from_numpy(bunch.images).to(torch.float32).div(16).unsqueeze(1)
    labels = [int(label) for label in bunch.target]
    shape = options.shape or (1, 8, 8)
    return Data(
        name="digits",
        train=ResizedDigits(images[:TRAIN_ITEMS], labels[:TRAIN_ITEMS], shape),
        test=ResizedDigits(images[TRAIN_ITEMS:], labels[TRAIN_ITEMS:], shape),
        item_shape=shape,
        classes=10,
        source="1,797 handwritten digits, 8x8 (UCI optical digits, with scikit-learn)",
    )
