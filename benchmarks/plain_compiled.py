"""Models as their papers write them, compiled by ``torch.compile``; and what that costs."""

from ._cases import DEVICES, PLAIN
from ._compiled import _Compilation, _CompiledPasses


class PlainCompilation(_Compilation):
    """Cost of compiling; an ``nn.LSTM`` breaks the graph, because torch.compile keeps it."""

    params = (PLAIN, DEVICES)
    implementation = "plain"


class PlainCompiled(_CompiledPasses):
    """Compiled passes; suite `plain` times eager ones, by another recipe."""

    params = (PLAIN, DEVICES, ["compiled"])
    implementation = "plain"
