"""Which cases a run measures."""

from __future__ import annotations

import re

from torchspeed.errors import TorchspeedError

SHORT = (
    r"^time_series\.",
    r"^small_cnns\.",
    r"^training\.TrainingStep\..*'(darnn|lenet5)'",
    r"^(torchvision_models|device_memory)\..*'(resnet18|squeezenet1_1)', '\w+', 5\)$",
    r"^device_memory\.DeviceMemory\.",
    r"^flux_literal\..*'(lstnet|tpa_lstm)_flux_literal'",
    r"^flux_training\.FluxTraining\..*'(lstnet|tpa_lstm)_solar'",
    r"^utilisation\.(TimeSeries|SmallCNNs|DevicePeak)\.",
    r"^work\.Work\..*"
    r"'(darnn|dsanet|lstnet|tpa_lstm|flux_cnn|lenet5|resnet18_mnist)'",
    r"^imports\.",
    r"^variants\..*'lenet5'",
    r"^instructions\.",
)
"""Patterns of ``make bench``: every family, whole where it is quick, some 10 minutes a pair.

Compiling (family ``modes``) takes a minute a model, and ``allocations`` are counted for all
models at once, which takes another: both are left to `make bench-full`.

Of torchvision's models the two quickest, at the smaller batch; `make bench-full`
measures all.
"""


def asv_patterns(patterns: tuple[str, ...]) -> list[str]:
    """The arguments that make asv measure only what matches; none means everything."""
    return [part for pattern in patterns for part in ("--bench", pattern)]


def timings(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Narrow patterns to the cases that time something: the ``time_*`` of a suite."""
    return tuple(rf"^(?=[^(]*\.time_).*(?:{pattern})" for pattern in patterns)


def checked(pattern: str) -> str:
    """Return ``pattern``, which a person gave.

    Raises:
        TorchspeedError: it is no regular expression.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise TorchspeedError(
            f"cases {pattern!r} is no regular expression ({error}); try a plain name, as darnn"
        ) from error
    return pattern
