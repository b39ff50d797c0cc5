"""Measures from which batch the tuned implementation of a model is no slower than the plain one.

``python -m torchspeed.measure.formulations [DEVICE]`` prints a line per batch and writes what it
measured on this processor into ``models/fastest.json``; those of other processors stay. Both
implementations are interleaved, on one thread.
"""

from __future__ import annotations

import json
import sys

import cpuinfo
import numpy as np
import torch

from torchspeed.files import write_whole
from torchspeed.measure.clocks import clock_for, seconds_per_call
from torchspeed.measure.passes import Passes
from torchspeed.measure.processes import keep_memory
from torchspeed.models import has_tuned
from torchspeed.models.fastest import FILE, Smallest, measured
from torchspeed.workloads import get_workload, list_workloads

BATCHES = (1, 8, 32)
"""Batches that are measured beside the batch of a model's source."""
ROUNDS = 5
"""Rounds of plain, tuned, tuned, plain."""
AT_LEAST_S = 0.03
"""Seconds of calls in a row that are timed together."""
NOISE = 0.99
"""Smallest ratio of plain over tuned time at which the tuned one counts as no slower."""

Ratios = dict[int, float]
"""The ratio of plain over tuned time by batch."""


def measure(
    workload: str, device: str, pass_name: str, batch: int | None, rounds: int = ROUNDS
) -> np.ndarray:
    """Return the seconds of a call, plain and tuned, interleaved: shape (rounds, 2).

    Args:
        workload: Its name.
        device: ``cpu`` or ``cuda``.
        pass_name: ``forward`` or ``backward``.
        batch: Samples in a batch; that of the workload's source if ``None``.
        rounds: Rounds of plain, tuned, tuned, plain.
    """
    plain, tuned = (
        getattr(Passes(workload, device, batch, implementation=implementation), pass_name)
        for implementation in ("plain", "tuned")
    )
    clock = clock_for(device)
    seconds = []
    for _ in range(rounds):
        first, second, third, fourth = (
            seconds_per_call(run, clock, AT_LEAST_S) for run in (plain, tuned, tuned, plain)
        )
        seconds.append(((first + fourth) / 2, (second + third) / 2))
    return np.array(seconds)


def threshold(ratios: Ratios) -> int | None:
    """Return the smallest batch from which no measured batch is slower; None if the last is."""
    smallest = None
    for batch in sorted(ratios, reverse=True):
        if ratios[batch] < NOISE:
            break
        smallest = batch
    return smallest


def processor(device: str) -> str:
    """Return the name of a GPU, or of the CPU with its family and model: brands are ambiguous."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    cpu = cpuinfo.get_cpu_info()
    numbers = (f"{name} {cpu.get(name, 'unknown')}" for name in ("family", "model"))
    return ", ".join([str(cpu.get("brand_raw", "unknown")), *numbers])


def tuned_workloads() -> list[str]:
    """Return the workloads whose models have a tuned implementation."""
    names = [*list_workloads("time_series"), *list_workloads("small_cnn")]
    return [name for name in names if has_tuned(get_workload(name).model)]


def measure_model(name: str, device: str, rounds: int = ROUNDS) -> dict[str, int | None]:
    """Measure both passes of a workload at several batches, print each ratio on standard error.

    Returns:
        By pass, the smallest batch from which the tuned implementation is no slower.
    """
    thresholds: dict[str, int | None] = {}
    for pass_name in ("forward", "backward"):
        medians: Ratios = {}
        for batch in sorted({*BATCHES, get_workload(name).batch}):
            plain, tuned = measure(name, device, pass_name, batch, rounds).T
            ratios = plain / tuned
            low, medians[batch], high = np.percentile(ratios, (25, 50, 75)).tolist()
            print(f"{name} {pass_name}, batch {batch}: plain / tuned {medians[batch]:.2f} "
                  f"({low:.2f} to {high:.2f})", file=sys.stderr, flush=True)  # fmt: skip
        thresholds[pass_name] = threshold(medians)
    return thresholds


def keep(device: str, name: str, smallest: Smallest) -> None:
    """Write the thresholds of models on a processor into the file; its other entries stay."""
    content = measured()
    content.setdefault(device.partition(":")[0], {}).setdefault(name, {}).update(smallest)
    write_whole(FILE, f"{json.dumps(content, indent=2)}\n".encode())


def use_one_thread() -> None:
    """Let this process compute as measured ones do: on one thread, keeping freed memory."""
    torch.set_num_threads(1)
    keep_memory()


def main(device: str = "cpu") -> None:
    """Measure every tuned model on a device, and write each one's thresholds."""
    use_one_thread()
    for name in tuned_workloads():
        keep(device, processor(device), {get_workload(name).model: measure_model(name, device)})


if __name__ == "__main__":
    main(*sys.argv[1:])
