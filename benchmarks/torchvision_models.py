"""torchvision's classifiers on ImageNet-sized images, as FluxBench's Metalhead group."""

from ._cases import DEVICES, TORCHVISION
from ._suite import _ModelSuite


class TorchvisionModels(_ModelSuite):
    """3x224x224 images in batches of 5 and 10; the short set has the two quickest models."""

    params = (TORCHVISION, DEVICES, [5, 10])
    param_names = ("model", "device", "batch")
