"""torchvision's classifiers on ImageNet-sized images, as FluxBench's Metalhead group."""

from ._suite import _ModelSuite


class TorchvisionModels(_ModelSuite):
    """3x224x224 images in batches of 5 and 10."""

    params = (
        [
            "resnet18",
            "resnet34",
            "resnet50",
            "densenet121",
            "googlenet",
            "vgg19",
            "squeezenet1_1",
        ],
        ["cpu", "cuda"],
        [5, 10],
    )
    param_names = ("model", "device", "batch")
