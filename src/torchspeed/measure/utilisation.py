"""Model FLOPs utilisation: how much of a device's own peak a pass reaches.

Elementwise arithmetic is not counted, so a model of many small operators has a small share.
"""

from dataclasses import dataclass
from statistics import median

from torchspeed.measure.clocks import interleaved
from torchspeed.measure.passes import Passes
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import work_of


@dataclass(frozen=True)
class Utilisation:
    """The rate that a pass reaches: medians over the rounds."""

    flops_per_second: float
    share_of_peak: float
    """1 is the peak's own rate. It may be more where a convolution skips the zeros of its
    padding, which the count of FLOPs includes."""


def utilisation_of(workload: str, peak: Peak, batch: int | None = None) -> dict[str, Utilisation]:
    """Time both passes of a workload, interleaved with the peak of the same device.

    Returns those of ``forward`` and ``backward``, which includes its forward.
    FLOPs are the plain model's even where the tuned one runs: arithmetic that tuning adds is not
    counted.
    """
    work = work_of(workload, batch, implementation="plain")
    flops = {"forward": work.forward.flops, "backward": work.backward.flops}
    passes = Passes(workload, str(peak.device), batch)
    runs = {"forward": passes.forward, "backward": passes.backward}
    measured = interleaved(runs, lambda: dict.fromkeys(runs, peak.measure()), str(peak.device))
    return {
        name: Utilisation(
            flops_per_second=median(flops[name] / seconds for seconds, _ in pairs),
            share_of_peak=median(flops[name] / seconds / rate for seconds, rate in pairs),
        )
        for name, pairs in measured.items()
    }
