"""Models as their papers write them, each pass as one CUDA graph; suite `plain` has them eager."""

from ._cases import PLAIN
from ._suite import _TimedPasses


class PlainGraphs(_TimedPasses):
    """The host launches a graph once, so what remains is the device's own time.

    TimesNet chooses its periods by the data, which a graph cannot.
    """

    params = ([model for model in PLAIN if model != "timesnet"], ["cuda"], ["cudagraph"])
    param_names = ("model", "device", "mode")
    implementation = "plain"
