"""Other number formats and layouts beside those of the sources, fp32 and contiguous.

All are timed by the same recipe, so that their ratios are fair.
"""

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._suite import _TimedPasses


class TimeSeriesVariants(_TimedPasses):
    """Forecasting models; bf16 is autocast. Their inputs have no channels to put last."""

    params = (TIME_SERIES, DEVICES, ["fp32", "bf16"])
    param_names = ("model", "device", "precision")


class CNNVariants(_TimedPasses):
    """Small classifiers at their own batch, torchvision's at 5 images of 3x224x224."""

    params = (
        [*SMALL_CNNS, "resnet18", "resnet50", "squeezenet1_1"],
        DEVICES,
        ["fp32", "bf16"],
        ["contiguous", "channels_last"],
    )
    param_names = ("model", "device", "precision", "layout")
