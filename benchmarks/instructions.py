"""Machine instructions of small CPU workloads, counted by valgrind: values without noise."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

from ._cases import TIME_SERIES
from ._package import from_commit
from ._tracked import Measured, Outcomes, _MeasuredOnce, stopped_after, tracked


class Instructions(_MeasuredOnce):
    """Small batches, because callgrind executes some fifty times slower than the processor."""

    params = ([*TIME_SERIES, "lenet5"], ["cpu"], [8])
    param_names = ("model", "device", "batch")
    short = True

    def measure(self, model: str, device: str, batch: int) -> Measured:
        """Look up what the process of valgrind counted."""
        counts = self._counts
        if counts.skipped:
            raise NotImplementedError(counts.skipped)
        if (model, batch) not in counts.cases:
            raise NotImplementedError(f"this commit has no workload {model!r}")
        return dataclasses.asdict(counts.cases[model, batch])

    @cached_property
    def _counts(self) -> Any:
        """Counts of all cases, from one process of valgrind."""
        count = from_commit("measure.instructions", "count_instructions")
        known = from_commit("workloads", "list_workloads")()
        models, _, (batch,) = self.params
        return count([(model, batch) for model in models if model in known])

    @stopped_after(900)
    def setup_cache(self) -> Outcomes:
        return self.measure_all()

    track_instructions_forward = tracked("forward", unit="instructions")
    track_instructions_backward = tracked("backward", unit="instructions")
