"""How much work every workload is: exact figures, the same in every run."""

import dataclasses

_MODELS = ["darnn", "dsanet", "lstnet", "tpa_lstm"]
_MODELS += ["darnn_flux_literal", "dsanet_flux_literal"]
_MODELS += ["lstnet_flux_literal", "tpa_lstm_flux_literal"]
_MODELS += ["flux_cnn", "lenet5", "resnet18_mnist"]
_MODELS += ["resnet18", "resnet34", "resnet50", "densenet121", "googlenet", "vgg19"]
_MODELS += ["squeezenet1_1"]


class Work:
    """FLOPs, operator dispatches and bytes of each workload at its own batch."""

    version = "1"
    params = (_MODELS, ["cpu"])
    param_names = ("model", "device")

    def setup_cache(self):
        """Count everything in one process; the cases look it up and need no torch."""
        try:
            from torchspeed.measure.work import work_of  # noqa: PLC0415 - old commits lack it
        except ImportError:
            return {}
        from torchspeed.workloads import list_workloads  # noqa: PLC0415 - imports torch

        works = {}
        for model in _MODELS:
            if model in list_workloads():
                try:
                    works[model] = dataclasses.asdict(work_of(model))
                except Exception as error:  # one broken model must not hide the others
                    works[model] = {"failed": f"{type(error).__name__}: {error}"}
        return works

    setup_cache.timeout = 1800

    def setup(self, works, model, device):
        if not works:
            raise NotImplementedError("this commit does not count work")
        if model not in works:
            raise NotImplementedError(f"this commit has no workload {model!r}")
        if "failed" in works[model]:
            raise RuntimeError(works[model]["failed"])

    def track_flops_forward(self, works, model, device):
        """Two for each multiply-add of products and convolutions in one inference."""
        return works[model]["forward"]["flops"]

    def track_flops_backward(self, works, model, device):
        """The same of a forward pass in training mode and its gradients."""
        return works[model]["backward"]["flops"]

    track_flops_forward.unit = track_flops_backward.unit = "FLOP"

    def track_dispatches_forward(self, works, model, device):
        """Operators that one inference calls, views left out."""
        return works[model]["forward"]["dispatches"]

    def track_dispatches_backward(self, works, model, device):
        """The same of a forward pass in training mode and its gradients."""
        return works[model]["backward"]["dispatches"]

    track_dispatches_forward.unit = track_dispatches_backward.unit = "dispatches"

    def track_parameter_bytes(self, works, model, device):
        """Of all parameters."""
        return works[model]["parameter_bytes"]

    def track_activation_bytes(self, works, model, device):
        """What autograd keeps between forward and backward, parameters and input left out."""
        return works[model]["activation_bytes"]

    track_parameter_bytes.unit = track_activation_bytes.unit = "bytes"
