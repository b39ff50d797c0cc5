"""Other number formats and layouts beside those of the sources, fp32 and contiguous.

Suites time_series, small_cnns and torchvision_models time fp32, contiguous by the same recipe.
"""

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._suite import _TimedPasses, skipped

_IMAGES = [*SMALL_CNNS, "resnet18", "resnet50", "squeezenet1_1"]
_other_than_the_sources = skipped(
    [(model, device, "fp32", "contiguous") for model in _IMAGES for device in DEVICES],
    because="other suites time the format and layout of the sources",
)


class TimeSeriesVariants(_TimedPasses):
    """Forecasting models; bf16 is autocast. Their inputs have no channels to put last."""

    params = (TIME_SERIES, DEVICES, ["bf16"])
    param_names = ("model", "device", "precision")


class CNNVariants(_TimedPasses):
    """Small classifiers at their own batch, torchvision's at 5 images of 3x224x224."""

    params = (_IMAGES, DEVICES, ["fp32", "bf16"], ["contiguous", "channels_last"])
    param_names = ("model", "device", "precision", "layout")

    time_forward = _other_than_the_sources(_TimedPasses.time_forward)
    time_backward = _other_than_the_sources(_TimedPasses.time_backward)
