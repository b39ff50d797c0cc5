"""What FluxArchitectures computes under the models' names, for its published figures."""

from ._suite import _ModelSuite


class FluxLiteral(_ModelSuite):
    """The sizes of time_series.TimeSeries; the work differs (docs/models.md)."""

    params = (
        [
            "darnn_flux_literal",
            "dsanet_flux_literal",
            "lstnet_flux_literal",
            "tpa_lstm_flux_literal",
        ],
        ["cpu", "cuda"],
    )
    param_names = ("model", "device")
