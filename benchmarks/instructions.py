"""Machine instructions of small CPU workloads, counted by valgrind: values without noise."""

from __future__ import annotations

import dataclasses
from typing import Any

from ._cases import TIME_SERIES
from ._package import from_commit
from ._suite import _Suite
from ._tracked import Measured, outcome_of, tracked, value_or_reason


class Instructions(_Suite):
    """Small batches, because callgrind executes some fifty times slower than the processor.

    One process of valgrind counts all cases, because starting it takes longer than counting.
    """

    params = ([*TIME_SERIES, "lenet5"], ["cpu"], [8])
    param_names = ("model", "device", "batch")

    measured: Measured

    def setup_cache(self) -> Measured:
        return outcome_of(self._count)

    setup_cache.timeout = 900  # type: ignore[attr-defined]  # s

    def _count(self) -> Measured:
        count = from_commit("measure.instructions", "count_instructions")
        known = from_commit("workloads", "list_workloads")()
        models, _, (batch,) = self.params
        counts = count([(model, batch) for model in models if model in known])
        if counts.skipped:
            raise NotImplementedError(counts.skipped)
        return {model: dataclasses.asdict(passes) for (model, _), passes in counts.cases.items()}

    def setup(self, counts: Measured, model: str, *case: Any) -> None:
        """Look a case up."""
        counted = value_or_reason(counts)
        if model not in counted:
            raise NotImplementedError(f"this commit has no workload {model!r}")
        self.measured = counted[model]

    track_instructions_forward = tracked("forward", unit="instructions")
    track_instructions_backward = tracked("backward", unit="instructions")
