"""Other number formats and layouts than the sources', beside theirs: fp32 and contiguous."""

from torchspeed.devices import missing_device
from torchspeed.measure.clocks import CLOCK_NAMES, clock_for
from torchspeed.measure.passes import passes
from torchspeed.workloads import list_workloads

from ._suite import _Recipe

try:
    from torchspeed.measure.precision import PRECISIONS
except ModuleNotFoundError:  # a commit from before there were variants
    PRECISIONS = None

DEVICES = ["cpu", "cuda"]


class _VariantSuite(_Recipe):
    """The default stands beside the others in the same recipe, so that their ratio is fair."""

    def setup(self, model, device, precision, layout="contiguous"):
        if PRECISIONS is None:
            raise NotImplementedError(
                "this commit has only fp32, contiguous (suites of the family)"
            )
        absent = missing_device(device)
        if absent:
            raise NotImplementedError(absent)
        if model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        self.timer = clock_for(device)
        self.passes = passes(model, device, precision=precision, layout=layout)

    def time_forward(self, model, device, precision, layout="contiguous"):
        """One inference, in seconds."""
        self.passes.forward()

    def time_backward(self, model, device, precision, layout="contiguous"):
        """One forward pass and the gradient by parameters and input, in seconds."""
        self.passes.backward()

    time_forward.clocks = time_backward.clocks = CLOCK_NAMES


class TimeSeriesVariants(_VariantSuite):
    """bf16: autocast. Their inputs have no channels that a layout could put last."""

    params = (["darnn", "dsanet", "lstnet", "tpa_lstm"], DEVICES, ["fp32", "bf16"])
    param_names = ("model", "device", "precision")


class CNNVariants(_VariantSuite):
    """Small classifiers at their own batch, torchvision's at 5 images of 3x224x224."""

    params = (
        ["flux_cnn", "lenet5", "resnet18_mnist", "resnet18", "resnet50", "squeezenet1_1"],
        DEVICES,
        ["fp32", "bf16"],
        ["contiguous", "channels_last"],
    )
    param_names = ("model", "device", "precision", "layout")
