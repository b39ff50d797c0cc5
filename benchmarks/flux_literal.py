"""What FluxArchitectures computes under the models' names, for its published values."""

from ._cases import DEVICES, FLUX_LITERAL
from ._suite import _ModelSuite


class FluxLiteral(_ModelSuite):
    """The sizes of time_series.TimeSeries; the work differs (docs/models.md)."""

    params = (FLUX_LITERAL, DEVICES)
    param_names = ("model", "device")
