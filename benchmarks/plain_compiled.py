"""Models as their papers write them, compiled by ``torch.compile``; and what that costs."""

from ._cases import DEVICES, PLAIN
from ._compiled import _Compilation, _CompiledPasses


class PlainCompilation(_Compilation):
    """An ``nn.LSTM`` breaks the graph: torch.compile calls it as it is."""

    params = (PLAIN, DEVICES)
    implementation = "plain"


class PlainCompiled(_CompiledPasses):
    """Eager is in suite `plain`, by another recipe."""

    params = (PLAIN, DEVICES, ["compiled"])
    implementation = "plain"
