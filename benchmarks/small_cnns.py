"""Small image classifiers at the batch that their sources train with."""

from ._suite import _ModelSuite


class SmallCNNs(_ModelSuite):
    """(batch, channels, height, width) of each: 1000x3x32x32, 128x1x28x28, 128x1x28x28."""

    params = (["flux_cnn", "lenet5", "resnet18_mnist"], ["cpu", "cuda"])
    param_names = ("model", "device")
