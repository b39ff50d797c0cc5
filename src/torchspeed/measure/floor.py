"""A lower bound of the time of a pass, from its products, its memory traffic and its dispatches.

The roofline model (S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual
performance model for multicore architectures", CACM 52 (2009), doi:10.1145/1498765.1498785)
bounds a kernel by the larger of two times, arithmetic over peak rate and bytes over bandwidth.
Here both are measured on this machine at the kernel's own sizes, and torch's dispatcher is added.
docs/notes/floor.md has the formulas and what they leave out.

Costs and passes are interleaved in one process: what slows the machine for a while slows both, so
it cancels in their ratio.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from torchspeed.measure.clocks import clock_for, rounds, seconds_per_call
from torchspeed.measure.costs import CostMeter, Costs
from torchspeed.measure.operations import Operation, Product, record
from torchspeed.measure.passes import OfBothPasses, Passes
from torchspeed.measure.peak import Peak
from torchspeed.measure.work import CountablePasses, parameter_bytes

FLOOR_MODES = ("eager", "compiled")


@dataclass(frozen=True)
class PassWork:
    """The work of one pass: its operators, and the bytes that it must move."""

    operations: Sequence[Operation]
    compulsory_bytes: int
    """Bytes of parameters, inputs and results; backward also of activations, twice."""

    @property
    def products(self) -> Counter[Product]:
        """All matrix products of the pass, and how often each is computed."""
        products: Counter[Product] = Counter()
        for operation in self.operations:
            products.update(operation.products)
        return products


@dataclass(frozen=True)
class Floor:
    """The time of a pass and its ratio to the floor, over the rounds."""

    floor_seconds: float
    """Median of the rounds' floors."""
    times_floor: float
    """Median of the rounds' ratios of pass to floor."""


def floor_of(
    workload: str, peak: Peak, mode: str = "eager", batch: int | None = None
) -> OfBothPasses[Floor]:
    """Time both passes of a workload, interleaved with the operations that they consist of.

    Each pass is compared with the mean of the floors measured just before and just after.

    Args:
        workload: name in `torchspeed.workloads`.
        peak: of the device that the passes run on.
        mode: one of `FLOOR_MODES`: how the passes run, and which floor is theirs.
        batch: samples; the workload's own batch by default.

    Raises:
        ValueError: no such workload or mode, or a batch below 1.
    """
    if mode not in FLOOR_MODES:
        raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(FLOOR_MODES)}")
    works = pass_works(workload, batch)
    passes = Passes(workload, str(peak.device), batch, compiled=mode == "compiled")
    runs = (passes.forward, passes.backward)
    for run in runs:
        run()  # compiles and warms up; a pass of seconds gets no other warm-up
    clock = clock_for(peak.device.type)
    bound = compiled_floor if mode == "compiled" else eager_floor
    meter = meter_for(works, peak)

    def floors() -> list[float]:
        costs = meter.measure()
        return [bound(work, costs) for work in works]

    measured = []
    before = floors()
    for _ in rounds():
        times = [seconds_per_call(run, clock) for run in runs]
        after = floors()
        means = map(statistics.fmean, zip(before, after, strict=True))
        measured.append(list(zip(times, means, strict=True)))
        before = after
    return OfBothPasses(*map(_summary, zip(*measured, strict=True)))


def pass_works(workload: str, batch: int | None = None) -> tuple[PassWork, PassWork]:
    """Return the work of the forward and the backward pass of a workload, recorded on the CPU.

    Raises:
        ValueError: no such workload, or a batch below 1.
    """
    passes = CountablePasses(workload, batch)
    resident = parameter_bytes(passes.model) + passes.inputs.nbytes
    return (
        PassWork(record(passes.forward), resident + passes.forward().nbytes),
        # The gradients of parameters and inputs are as large as these.
        PassWork(record(passes.backward), 2 * (resident + passes.activation_bytes())),
    )


def meter_for(works: Sequence[PassWork], peak: Peak) -> CostMeter:
    """Return a meter of all costs that the eager and the compiled floor of these passes need."""
    operations = [operation for work in works for operation in work.operations]
    moved = [operation.moved_bytes for operation in operations]
    moved += [work.compulsory_bytes for work in works]
    products = {product for operation in operations for product in operation.products}
    return CostMeter(peak, moved, products)


def eager_floor(work: PassWork, costs: Costs) -> float:
    """Return a lower bound, in seconds, of a pass whose operators run one after the other."""
    own = sum(
        max(costs.multiplying(o.products, o.other_flops), costs.moving(o.moved_bytes))
        for o in work.operations
    )
    return _together(costs.dispatch_seconds * len(work.operations), own, costs)


def compiled_floor(work: PassWork, costs: Costs) -> float:
    """Return a lower bound, in seconds, of a pass that is one call and moves only what it must."""
    other_flops = sum(operation.other_flops for operation in work.operations)
    arithmetic = costs.multiplying(work.products, other_flops)
    own = max(arithmetic, costs.moving(work.compulsory_bytes))
    return _together(costs.dispatch_seconds, own, costs)


def _together(dispatching: float, own: float, costs: Costs) -> float:
    """Return the time of dispatch and work: on a GPU they overlap, on a CPU they add up."""
    return max(dispatching, own) if costs.overlaps else dispatching + own


def _summary(pairs: Sequence[tuple[float, float]]) -> Floor:
    """Summarise the rounds of a pass: its seconds and those of its floor."""
    ratios = [seconds / floor for seconds, floor in pairs]
    return Floor(
        floor_seconds=statistics.median(floor for _, floor in pairs),
        times_floor=statistics.median(ratios),
    )
