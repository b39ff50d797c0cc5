"""Forecasting models at FluxBench's sizes."""

from ._suite import _ModelSuite


class TimeSeries(_ModelSuite):
    """(batch, window, features) of each: 300x10x10, 1000x10x50, 500x10x20, 300x10x10."""

    params = (["darnn", "dsanet", "lstnet", "tpa_lstm"], ["cpu", "cuda"])
    param_names = ("model", "device")
