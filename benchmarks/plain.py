"""Models as their papers write them, in torch's own layers, run operator by operator.

They change only with a new ``code_version``, so what moves here is torch or the machine.
"""

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._suite import _ModelSuite


class PlainModels(_ModelSuite):
    """FluxBench's forecasting models and small image classifiers, at the batch of their sources.

    `make bench` leaves out ResNet-18, which nobody has tuned: `small_cnns` measures the same.
    """

    params = (TIME_SERIES + SMALL_CNNS, DEVICES)
    param_names = ("model", "device")
    implementation = "plain"
