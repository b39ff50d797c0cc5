"""What a case is called where people read: plain parameter values, its pass, its metric.

Labels are data: a name full of markup or quotes comes out as it went in, and is escaped where it
is shown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from asv_watch.records.records import Benchmark

_PASSES = ("forward", "backward")
_WRITTEN = {"flops": "FLOPs", "mfu": "MFU", "cuda": "CUDA"}
_METRIC_OF_TYPE = {"time": "time", "peakmemory": "peak memory", "memory": "memory"}


def plain_value(written: str) -> str:
    """Turn a parameter as asv writes it (``repr``) into plain text.

    ``'darnn'`` with its quotes becomes ``darnn``; ``5`` stays ``5``; what is no
    literal of Python passes through unchanged.
    """
    if written[:1] not in ("'", '"') or written[-1:] != written[:1]:
        return written
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError):
        return written
    return value if isinstance(value, str) else written


def measures_models(benchmarks: Iterable[Benchmark]) -> bool:
    """Tell whether a project measures models on devices, as the parameters of its suites say."""
    return any({"model", "device"} <= set(benchmark.param_names) for benchmark in benchmarks)


def case_labels(
    benchmark: Benchmark, params: tuple[str, ...], *, of_models: bool = True
) -> dict[str, str]:
    """Name all parameters of a case, its ``pass`` and its ``metric``.

    In a project that measures no models (`measures_models`) there is no ``pass``, and the metric
    is the kind of the benchmark: ``time``, ``peak memory``, or the unit of a ``track_*``.

    ``time_forward`` gives the pass ``forward`` and the metric ``time``;
    ``track_instructions_backward`` the pass ``backward`` and the metric
    ``instructions``; ``time_epoch``, which is neither pass, the metric
    ``epoch time`` and an empty pass.
    """
    labels = {
        name: plain_value(value) for name, value in zip(benchmark.param_names, params, strict=True)
    }
    if not of_models:
        unit = "tracked value" if benchmark.unit == "unit" else benchmark.unit
        labels.setdefault("metric", _METRIC_OF_TYPE.get(benchmark.type, unit))
        return labels
    pass_name, metric = pass_and_metric(benchmark)
    labels.setdefault("pass", pass_name)
    labels.setdefault("metric", metric)
    return labels


def pass_and_metric(benchmark: Benchmark) -> tuple[str, str]:
    """Read the pass and the metric from a benchmark's function name and type.

    Values of one metric are compared with each other, so what is not a pass of a model (an epoch,
    an import) is a metric of its own. The metric of a ``track_forward`` is ``phase time`` if it is
    in seconds, otherwise the name of its class. The metric of a ``track_seconds`` is the name of
    its class in words: ``time to accuracy`` for ``TimeToAccuracy``.
    """
    *_, owner, function = ["", *benchmark.name.split(".")]
    words = [word for word in function.split("_")[1:] if word] or [function]
    passes = [word for word in words if word in _PASSES]
    others = " ".join(_WRITTEN.get(word, word) for word in words if word not in _PASSES)
    of_type = _METRIC_OF_TYPE.get(benchmark.type)
    if of_type is None and others == "seconds":
        metric = " ".join(re.findall("[A-Z]+[a-z0-9]*|[a-z0-9]+", owner)).lower() or others
    elif of_type is None:
        unnamed = "phase time" if passes and benchmark.unit == "seconds" else owner
        metric = others or unnamed or benchmark.type
    elif passes:
        metric = of_type
    else:
        metric = f"{others} {of_type}"
    return (passes[0] if passes else ""), metric
