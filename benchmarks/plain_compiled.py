"""Models as their papers write them, compiled by ``torch.compile``; and what that costs."""

from ._cases import DEVICES, SMALL_CNNS, TIME_SERIES
from ._compiled import _Compilation, _CompiledPasses


class PlainCompilation(_Compilation):
    """An ``nn.LSTM`` breaks the graph: torch.compile calls it as it is."""

    params = (TIME_SERIES + SMALL_CNNS, DEVICES)
    implementation = "plain"


class PlainCompiled(_CompiledPasses):
    """Eager is in suite `plain`, by another recipe."""

    params = (TIME_SERIES + SMALL_CNNS, DEVICES, ["compiled"])
    implementation = "plain"
