"""The models as FluxArchitectures computes them, to compare with its published values."""

from ._cases import DEVICES, FLUX_LITERAL
from ._suite import _ModelSuite


class FluxLiteral(_ModelSuite):
    """The sizes are those of time_series.TimeSeries; the work differs (docs/models.md)."""

    params = (FLUX_LITERAL, DEVICES)
    param_names = ("model", "device")
