"""Models as their papers write them, in torch's own layers, run operator by operator.

They change only with a new ``code_version``, so what moves here is torch or the machine.
"""

from ._cases import DEVICES, PLAIN
from ._suite import _ModelSuite


class PlainModels(_ModelSuite):
    """FluxBench's forecasting models, small image classifiers and today's forecasters.

    Each has the batch of its source; today's forecasters have 32 windows of 96 steps of 7 series,
    and a horizon of 96. `make bench` leaves out ResNet-18, which nobody has tuned: `small_cnns`
    measures the same. Of today's forecasters it takes one forward pass, and none of TimesNet.
    """

    params = (PLAIN, DEVICES)
    param_names = ("model", "device")
    implementation = "plain"
