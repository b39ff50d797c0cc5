"""How much work each workload takes: exact counts, the same in every run."""

from typing import ClassVar

from . import _cases
from ._package import from_commit, options_of, skip_what_cannot_run
from ._tracked import Measured, _CachedSuite, tracked


class _Work(_CachedSuite):
    """FLOPs, operator dispatches and bytes of each workload at its own batch.

    FLOPs are two for each multiply-add of products and convolutions. Dispatches are calls of
    operators, without views. A backward pass includes a forward pass in training
    mode. Activations are what autograd keeps between the two, without parameters and input.
    """

    implementation: ClassVar[str] = "tuned"

    param_names = ("model", "device")

    def measure(self, model: str, device: str) -> Measured:
        work_of = from_commit("measure.work", "work_of")
        skip_what_cannot_run(device, model)
        options = options_of(work_of, implementation=self.implementation)
        return work_of(model, **options)

    track_flops_forward = tracked("forward", "flops", unit="FLOP", exact=True)
    track_flops_backward = tracked("backward", "flops", unit="FLOP", exact=True)
    track_dispatches_forward = tracked("forward", "dispatches", unit="dispatches", exact=True)
    track_dispatches_backward = tracked("backward", "dispatches", unit="dispatches", exact=True)
    track_parameter_bytes = tracked("parameter_bytes", unit="bytes", exact=True)
    track_activation_bytes = tracked("activation_bytes", unit="bytes", exact=True)


class PlainWork(_Work):
    """The work of the papers' models, independent of the formulation: model FLOPs."""

    params = (_cases.PLAIN + _cases.REAL_SIZES + _cases.PRETRAINED, ["cpu"])
    implementation = "plain"


class Work(_Work):
    """The work of the tuned models that the suites time forward and backward."""

    params = (
        _cases.TIME_SERIES + _cases.FLUX_LITERAL + _cases.TUNED_CNNS + _cases.TORCHVISION,
        ["cpu"],
    )


class FluxBenchWork(_Work):
    """The workloads of suite fluxbench; a detector's backward pass is that of its kept boxes."""

    params = (_cases.DETECTORS + _cases.TRANSFORMERS + _cases.GRAPH_NETWORKS, ["cpu"])


class TrainingWork(_Work):
    """The work of one of the five steps of flux_training.FluxTraining, without the optimiser."""

    params = (_cases.SOLAR + _cases.SOLAR_LITERAL, ["cpu"])
