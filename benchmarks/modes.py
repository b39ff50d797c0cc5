"""Tuned passes compiled and as a CUDA graph, and what compiling costs."""

from ._cases import DEVICES, TIME_SERIES, TUNED_CNNS
from ._compiled import _Compilation, _CompiledPasses
from ._suite import skipped

MODELS = [*TIME_SERIES, *TUNED_CNNS, "resnet18", "squeezenet1_1"]
"""Ours, and torchvision's two quickest at 5 images of 3x224x224."""

_not_on_the_cpu = skipped(
    [(model, "cpu", "cudagraph") for model in MODELS], "CUDA graphs are for GPUs"
)


class Compilation(_Compilation):
    """Tuned models should have no graph breaks and no recompilations."""

    params = (MODELS, DEVICES)


class Modes(_CompiledPasses):
    """Suites time_series, small_cnns and torchvision_models time the eager passes."""

    params = (MODELS, DEVICES, ["compiled", "cudagraph"])

    time_forward = _not_on_the_cpu(_CompiledPasses.time_forward)
    time_backward = _not_on_the_cpu(_CompiledPasses.time_backward)
