"""Models as their papers write them, each pass as one CUDA graph; suite `plain` has them eager."""

from ._cases import PLAIN
from ._suite import _TimedPasses


class PlainGraphs(_TimedPasses):
    """The host launches a graph once, so what remains is the device's own time.

    Two models are left out: TimesNet copies its periods to the host, which no graph can, and the
    encoder-decoder was not tried on a GPU since it stopped copying whether its mask is causal.
    """

    params = (
        [model for model in PLAIN if model not in {"timesnet", "encoder_decoder"}],
        ["cuda"],
        ["cudagraph"],
    )
    param_names = ("model", "device", "mode")
    implementation = "plain"
