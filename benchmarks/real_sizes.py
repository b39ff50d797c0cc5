"""Forecasters at the windows and numbers of series of electricity and traffic data."""

from ._cases import DEVICES, REAL_SIZES
from ._suite import _ModelSuite


class RealSizes(_ModelSuite):
    """720 steps of 321 series, 512 steps of 862; a pass takes 0.03 to 4 s on one core."""

    params = (REAL_SIZES, DEVICES)
    param_names = ("model", "device")
    implementation = "plain"
    rounds = 1
    number = 1
    repeat = (1, 20, 0.5)
    first_calls = 1
    warmup_time = 0
