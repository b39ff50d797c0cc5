"""Small image classifiers at the batch of their sources, reformulated for speed."""

from ._cases import DEVICES, TUNED_CNNS
from ._suite import _ModelSuite


class SmallCNNs(_ModelSuite):
    """(batch, channels, height, width) of each: 1000x3x32x32, 128x1x28x28."""

    params = (TUNED_CNNS, DEVICES)
    param_names = ("model", "device")
