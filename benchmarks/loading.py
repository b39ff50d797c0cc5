"""How many windows of a series are loaded per second, and how many a bare copy would load.

The series has 100,000 rows of 7 columns. A batch has 32 shuffled windows of 96 rows and, of each,
the 96 rows that follow it. ``numpy`` copies from its ``sliding_window_view``, ``torch`` from its
``unfold``: the floor of what a loader can take.
"""

from ._package import from_commit
from ._tracked import Measured, _CachedSuite, tracked


class Windows(_CachedSuite):
    """This project's loader, beside both bare copies, by wall time.

    The number of workers is no parameter: windows are loaded by the process that uses them
    (`torchspeed.data.load.make_loader`), since a worker would only copy each batch once more.
    """

    params = (["loader", "numpy", "torch"],)
    param_names = ("loader",)

    def measure(self, loader: str) -> Measured:
        """Load the series six times; the first one is not counted."""
        rate = from_commit("training.window_loading", "windows_per_second")(loader)
        return {"rate": float(rate)}

    track_windows_per_second = tracked("rate", unit="windows/s", higher_is_better=True)
