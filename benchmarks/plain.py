"""Models as their papers write them, in torch's own layers, run operator by operator.

Their code changes only with a new ``code_version``: a change here is torch's or the machine's.
Since 2026-11-28 DeepAR computes no deviation that it does not read: 0.943 of the time of a forward
pass (0.938 to 0.952). A new version would have begun the series of all models anew for it.
"""

from ._cases import DEVICES, PLAIN
from ._suite import _ModelSuite


class PlainModels(_ModelSuite):
    """FluxBench's forecasting models, small image classifiers and today's forecasters.

    Each has the batch of its source; today's forecasters have 32 windows of 96 steps of 7 series,
    and a horizon of 96. `make bench` leaves out ResNet-18 and TimesNet, and times only the forward
    pass of the other forecasters of today.
    """

    params = (PLAIN, DEVICES)
    param_names = ("model", "device")
    implementation = "plain"
