"""Machine instructions of small CPU workloads, counted by valgrind: figures without noise."""

import dataclasses


class Instructions:
    """Small batches, because callgrind executes some fifty times slower than the processor."""

    version = "1"
    unit = "instructions"
    params = (["darnn", "dsanet", "lstnet", "tpa_lstm", "lenet5"], ["cpu"], [8])
    param_names = ("model", "device", "batch")

    def setup_cache(self):
        """Count all in one process of valgrind; the cases look it up and need no torch."""
        try:
            from torchspeed.measure.instructions import (  # noqa: PLC0415 - old commits lack it
                count_instructions,
            )
        except ModuleNotFoundError:
            return {"skipped": "this commit cannot count instructions"}
        from torchspeed.workloads import list_workloads  # noqa: PLC0415 - imports torch

        models, _, (batch,) = self.params
        known = [model for model in models if model in list_workloads()]
        counts = count_instructions([(model, batch) for model in known])
        cases = {
            model: dataclasses.asdict(counted) for (model, _), counted in counts.cases.items()
        }
        return {"skipped": counts.skipped, "cases": cases}

    setup_cache.timeout = 900

    def setup(self, counts, model, device, batch):
        if counts["skipped"]:
            raise NotImplementedError(counts["skipped"])
        if model not in counts["cases"]:
            raise NotImplementedError(f"this commit has no workload {model!r}")

    def track_instructions_forward(self, counts, model, device, batch):
        """Instructions of one inference."""
        return _counted(counts["cases"][model], "forward")

    def track_instructions_backward(self, counts, model, device, batch):
        """Instructions of one forward pass and the gradient by parameters and input."""
        return _counted(counts["cases"][model], "backward")


def _counted(case, pass_name):
    if case[pass_name] is None:
        raise RuntimeError(case["error"])
    return case[pass_name]
