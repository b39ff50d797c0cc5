"""Models as their papers write them, in torch's own layers, run operator by operator.

Their code changes only with a new ``code_version``: a change here is torch's or the machine's.
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
