"""How much work every workload is: exact figures, the same in every run."""

import dataclasses

from ._once import look_up, measure_each

_MODELS = ["darnn", "dsanet", "lstnet", "tpa_lstm"]
_MODELS += ["darnn_flux_literal", "dsanet_flux_literal"]
_MODELS += ["lstnet_flux_literal", "tpa_lstm_flux_literal"]
_MODELS += ["flux_cnn", "lenet5", "resnet18_mnist"]
_MODELS += ["resnet18", "resnet34", "resnet50", "densenet121", "googlenet", "vgg19"]
_MODELS += ["squeezenet1_1"]

_TRAINED = ["darnn_solar", "dsanet_solar", "lstnet_solar", "tpa_lstm_solar"]
_TRAINED += ["darnn_solar_literal", "dsanet_solar_literal"]
_TRAINED += ["lstnet_solar_literal", "tpa_lstm_solar_literal"]


def _count(models):
    """Count everything in one process; the cases look it up and need no torch."""
    try:
        from torchspeed.measure.work import work_of  # noqa: PLC0415 - old commits lack it
    except ImportError:
        return {}
    from torchspeed.workloads import list_workloads  # noqa: PLC0415 - imports torch

    def measure(model):
        if model not in list_workloads():
            raise NotImplementedError(f"this commit has no workload {model!r}")
        return dataclasses.asdict(work_of(model))

    return measure_each(models, measure)


class _Work:
    """FLOPs, operator dispatches and bytes of each workload at its own batch."""

    version = "1"
    param_names = ("model", "device")

    def setup(self, works, model, device):
        if not works:
            raise NotImplementedError("this commit does not count work")
        self.work = look_up(works, model)

    def track_flops_forward(self, works, model, device):
        """Two for each multiply-add of products and convolutions in one inference."""
        return self.work["forward"]["flops"]

    def track_flops_backward(self, works, model, device):
        """The same of a forward pass in training mode and its gradients."""
        return self.work["backward"]["flops"]

    track_flops_forward.unit = track_flops_backward.unit = "FLOP"

    def track_dispatches_forward(self, works, model, device):
        """Operators that one inference calls, views left out."""
        return self.work["forward"]["dispatches"]

    def track_dispatches_backward(self, works, model, device):
        """The same of a forward pass in training mode and its gradients."""
        return self.work["backward"]["dispatches"]

    track_dispatches_forward.unit = track_dispatches_backward.unit = "dispatches"

    def track_parameter_bytes(self, works, model, device):
        """Of all parameters."""
        return self.work["parameter_bytes"]

    def track_activation_bytes(self, works, model, device):
        """What autograd keeps between forward and backward, parameters and input left out."""
        return self.work["activation_bytes"]

    track_parameter_bytes.unit = track_activation_bytes.unit = "bytes"


class Work(_Work):
    """Workloads that the suites time forward and backward."""

    params = (_MODELS, ["cpu"])

    def setup_cache(self):
        return _count(_MODELS)

    setup_cache.timeout = 1800


class TrainingWork(_Work):
    """One of the five steps of flux_training.FluxTraining, without the optimiser."""

    params = (_TRAINED, ["cpu"])

    def setup_cache(self):
        return _count(_TRAINED)

    setup_cache.timeout = 1800
