"""FluxBench's groups besides forecasting and classification (docs/models/fluxbench.md)."""

from typing import Any

from ._cases import DETECTORS, DEVICES, GRAPH_NETWORKS, TRANSFORMERS
from ._suite import _ModelSuite, _TimedInference


class Detectors(_TimedInference):
    """YOLO v3 with 608x608 pixels and tiny YOLO with 416x416, with suppression of boxes.

    As in FluxBench's group ObjectDetector, only inference is measured.
    """

    params = (DETECTORS, DEVICES, [1, 3])
    param_names = ("model", "device", "batch")

    def peakmem_forward(self, *case: Any) -> None:
        """Peak host memory, in bytes, of a process that infers once, on CUDA too."""
        self.passes.forward()


class Transformers(_ModelSuite):
    """An encoder of 12 layers on 32 sequences of 100 tokens, and BERT-base on 8 texts."""

    params = (TRANSFORMERS, DEVICES)
    param_names = ("model", "device")


class GraphNetworks(_ModelSuite):
    """GCN with 16 and 32 hidden features, on a graph of 2,708 nodes for each sample."""

    params = (GRAPH_NETWORKS, DEVICES, [8, 16])
    param_names = ("model", "device", "batch")
