"""Models as their papers write them, compiled by ``torch.compile``; and what that costs."""

from ._cases import DEVICES, PLAIN
from ._compiled import _Compilation, _CompiledPasses


class PlainCompilation(_Compilation):
    """Cost of compiling; ``nn.LSTM`` breaks the graph, as torch.compile does not trace it."""

    params = (PLAIN, DEVICES)
    implementation = "plain"


class PlainCompiled(_CompiledPasses):
    """Compiled passes; suite `plain` times eager ones, but samples them differently."""

    params = (PLAIN, DEVICES, ["compiled"])
    implementation = "plain"
