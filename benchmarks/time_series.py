"""Forecasting models at FluxBench's sizes, reformulated for speed."""

from ._cases import DEVICES, TIME_SERIES
from ._suite import _ModelSuite


class TimeSeries(_ModelSuite):
    """(batch, window, features) of each: 300x10x10, 1000x10x50, 500x10x20, 300x10x10."""

    params = (TIME_SERIES, DEVICES)
    param_names = ("model", "device")
