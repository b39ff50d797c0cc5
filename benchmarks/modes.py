"""The same passes eager, compiled and as a CUDA graph; and what compiling costs."""

from pathlib import Path

from asv_runner.benchmarks.mark import skip_for_params

from torchspeed.devices import missing_device
from torchspeed.measure.clocks import CLOCK_NAMES, clock_for
from torchspeed.measure.passes import passes
from torchspeed.workloads import list_workloads

from ._suite import _Recipe

try:
    from torchspeed.measure.compilation import cannot_compile, keep_code_in
    from torchspeed.measure.compile_cost import code_folder, compile_cost
except ModuleNotFoundError:  # a commit from before there were modes
    compile_cost = None

MODELS = ["darnn", "dsanet", "lstnet", "tpa_lstm", "flux_cnn", "lenet5", "resnet18_mnist"]
DEVICES = ["cpu", "cuda"]


def setup_cache():
    """Name the folder of compiled code: the cases of a run share it, and asv removes it."""
    return str(Path.cwd())


def _skip_what_cannot_run(model, device, compiles):
    if compile_cost is None:
        raise NotImplementedError("this commit has no modes but eager (suites of the family)")
    absent = missing_device(device)
    if absent:
        raise NotImplementedError(absent)
    if model not in list_workloads():
        raise NotImplementedError(f"this commit has no workload {model!r}")
    unable = cannot_compile(device) if compiles else None
    if unable:
        raise NotImplementedError(unable)


class Compilation:
    """Both passes compiled from nothing, once a run: the figures of a model come together."""

    params = (MODELS, DEVICES)
    param_names = ("model", "device")
    version = "1"
    timeout = 900  # s: the largest takes 1 min 30 s on one idle core

    def setup(self, folder, model, device):
        _skip_what_cannot_run(model, device, compiles=True)
        self.cost = compile_cost(model, device, Path(folder))

    def track_compile_seconds_forward(self, folder, model, device):
        """CPU time of the first inference and of the compilers that it starts."""
        return self.cost.forward_seconds

    def track_compile_seconds_backward(self, folder, model, device):
        """The same of the first forward in training mode and its gradient."""
        return self.cost.backward_seconds

    def track_graph_breaks(self, folder, model, device):
        """Places where the compiler gave up on a piece of either pass: 0."""
        return self.cost.graph_breaks

    def track_recompilations(self, folder, model, device):
        """Graphs compiled when both passes run again, in turn, with the same shapes: 0."""
        return self.cost.recompilations

    track_compile_seconds_forward.unit = track_compile_seconds_backward.unit = "seconds"
    track_graph_breaks.unit = "breaks"
    track_recompilations.unit = "graphs"


_NO_GRAPH = skip_for_params([(model, "cpu", "cudagraph") for model in MODELS])


class Modes(_Recipe):
    """Eager stands beside the others in the same recipe, so that their ratio is fair."""

    params = (MODELS, DEVICES, ["eager", "compiled", "cudagraph"])
    param_names = ("model", "device", "mode")
    rounds = 1  # a process that compiles pays seconds before its first sample
    repeat = (5, 20, 4.0)
    timeout = Compilation.timeout  # a case asked for alone compiles by itself

    def setup(self, folder, model, device, mode):
        compiles = mode == "compiled"
        _skip_what_cannot_run(model, device, compiles)
        if compiles:
            keep_code_in(code_folder(model, device, Path(folder)))
        self.timer = clock_for(device)
        self.passes = passes(model, device, mode=mode)

    @_NO_GRAPH
    def time_forward(self, folder, model, device, mode):
        """One inference, in seconds."""
        self.passes.forward()

    @_NO_GRAPH
    def time_backward(self, folder, model, device, mode):
        """One forward pass and the gradient by parameters and input, in seconds."""
        self.passes.backward()

    time_forward.clocks = time_backward.clocks = CLOCK_NAMES
    time_forward.skipped_because = time_backward.skipped_because = "CUDA graphs are for GPUs"
