"""``python -m tools.gpu.summary MACHINE``: what the stored results of a GPU's machine say.

The batch from which each model is faster on the GPU; whether every model is faster at its source's
batch; and whether CUDA graphs come near the device's own time. Values are the newest of each case.
`store` prints the same of what it stored.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch.asv.patterns import case_pattern
from asv_watch.asv.settings import read_configuration
from asv_watch.records.loading import load_history
from asv_watch.text.markdown import table
from asv_watch.text.quantities import digits, quantity
from asv_watch.versions.git import ask_git, read_commits
from tools.gpu.differences import conclusion
from tools.gpu.prepare import ROOT
from torchspeed.workloads import get_workload

_EAGER = ("plain", "tuned", "best number of threads")
"""Levels of asv.conf.json with passes that no compiler and no graph speeds up."""
_GRAPH = "CUDA graph"
_MOST_KERNEL_TIMES = 3.0
"""A graph should take at most so many times as long as its kernels."""
_PASSES = ("forward", "backward")

Subject = tuple[str, str]
"""A model and a pass."""


@dataclass(frozen=True)
class Value:
    """The newest value of a case."""

    case: str
    labels: Mapping[str, str]
    """Those of the layout in asv.conf.json, such as model, device, pass and implementation."""
    level: str
    """Level of asv.conf.json that the case belongs to; empty if to none."""
    value: float
    """In the unit of its benchmark."""

    @property
    def subject(self) -> Subject:
        """Its model and pass."""
        return self.labels.get("model", ""), self.labels.get("pass", "")

    @property
    def implementation(self) -> str:
        """``plain``, ``tuned`` or ``fused``."""
        return self.labels.get("implementation", "tuned")


def newest_values(results: Path, machine: str) -> list[Value]:
    """Return the newest value of each case that a machine measured."""
    configuration = read_configuration(ROOT)
    layout = configuration.declared.layout
    patterns = {name: case_pattern(text) for name, text in layout.levels.items()}
    branch = ask_git(ROOT, "branch", "--show-current") or configuration.branch
    history = load_history(results, read_commits(ROOT, branch), machine, layout=layout)
    values: dict[str, Value] = {}
    for series in sorted(history.series, key=lambda series: series.last.at or 0):
        case = series.case
        if point := series.last.point:
            levels = (name for name, pattern in patterns.items() if pattern.matches(case.name))
            values[case.name] = Value(case.name, case.labels, next(levels, ""), point.value)
    return list(values.values())


def crossing(gpu: Mapping[int, float], cpu: Mapping[int, float]) -> int | None:
    """Return the batch from which a GPU is faster, at all larger measured ones too.

    Args:
        gpu: seconds by batch.
        cpu: likewise.

    Returns:
        The smallest such batch that both measured; None if the CPU is faster at the largest.
    """
    found = None
    for batch in sorted(gpu.keys() & cpu.keys(), reverse=True):
        if gpu[batch] >= cpu[batch]:
            break
        found = batch
    return found


def crossings(values: Iterable[Value]) -> str:
    """Return a table of the batches from which the GPU is faster than the CPU's best."""
    seconds: dict[Subject, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for value in values:
        if not value.case.startswith("batches."):
            continue
        model, label = value.labels["model"], value.labels["batch"]
        batch = get_workload(model).batch if label == "source" else int(label)
        times = seconds[value.subject][value.labels["device"]]
        times[batch] = min(times.get(batch, value.value), value.value)
    rows = []
    for (model, pass_name), devices in seconds.items():
        gpu, cpu = devices["cuda"], devices["cpu"]
        if common := sorted(gpu.keys() & cpu.keys()):
            first = crossing(gpu, cpu)
            words = {None: "at none", common[0]: "at every measured batch"}
            rates = [
                f"{batch}: {digits(batch / gpu[batch])} / {digits(batch / cpu[batch])}"
                for batch in common
            ]
            rows.append(
                (f"`{model}`", pass_name, words.get(first, f"from {first}"), " · ".join(rates))
            )
    if not rows:
        return "No batch was measured on both devices."
    return table(("model", "pass", "GPU faster", "samples/s by batch, GPU / CPU"), rows)


def faster_on_gpu(values: Sequence[Value]) -> str:
    """Say whether every forecaster and small CNN is faster on the GPU than on the CPU, eager."""
    eager = [value for value in values if value.level in _EAGER]
    gpu = _fastest(value for value in eager if value.labels["device"] == "cuda")
    cpu = _fastest(value for value in eager if value.labels["device"] == "cpu")
    cells = {
        subject: (
            cpu[subject].value / own.value,
            f"{_seconds(own.value)} {own.implementation}, CPU {_seconds(cpu[subject].value)}",
        )
        for subject, own in gpu.items()
        if subject in cpu
    }
    return _answered(gpu, cells, lambda ratio: ratio > 1)


def graphs_near_kernels(values: Sequence[Value]) -> str:
    """Say whether every graph takes at most three times as long as its kernels."""
    kernels: dict[tuple[Subject, str], float] = {}
    for value in values:
        if value.labels.get("metric") == "kernel seconds":
            key = value.subject, value.implementation
            kernels[key] = min(kernels.get(key, value.value), value.value)
    graphs = _fastest(value for value in values if value.level == _GRAPH)
    cells = {
        subject: (
            own.value / kernels[subject, own.implementation],
            f"{_seconds(own.value)} {own.implementation}",
        )
        for subject, own in graphs.items()
        if (subject, own.implementation) in kernels
    }
    return _answered(graphs, cells, lambda ratio: ratio <= _MOST_KERNEL_TIMES)


def _fastest(values: Iterable[Value]) -> dict[Subject, Value]:
    fastest: dict[Subject, Value] = {}
    for value in values:
        if value.labels.get("metric") == "time":
            other = fastest.setdefault(value.subject, value)
            fastest[value.subject] = min(value, other, key=lambda value: value.value)
    return fastest


def _seconds(value: float) -> str:
    return quantity(value, "seconds")


def _answered(
    subjects: Iterable[Subject],
    cells: Mapping[Subject, tuple[float, str]],
    holds: Callable[[float], bool],
) -> str:
    """Return whether a goal holds for all subjects, and a table of their ratios."""
    wanted = list(subjects)
    if not wanted:
        return "Nothing was measured."
    if not cells:
        return "Not known: there is nothing to compare with."
    missing = [subject for subject in wanted if subject not in cells]
    failed = [subject for subject, (ratio, _) in cells.items() if not holds(ratio)]
    answer = "No" if failed else "Not known" if missing else "Yes"
    parts = [f"{answer}: it holds for {len(cells) - len(failed)} of {len(wanted)} passes"]
    for subjects_of, words in ((failed, "it does not for"), (missing, "there is no value for")):
        if subjects_of:
            parts.append(f"{words} {', '.join(map(' '.join, subjects_of))}")
    rows = [
        (f"`{model}`", *(_cell(cells.get((model, pass_name))) for pass_name in _PASSES))
        for model in dict.fromkeys(model for model, _ in cells)
    ]
    return f"{'; '.join(parts)}.\n\n{table(('model', *_PASSES), rows)}"


def _cell(cell: tuple[float, str] | None) -> str:
    return f"{digits(cell[0])} ({cell[1]})" if cell else "not measured"


def _spread(results: Path, machine: str) -> str:
    for path in sorted((results / machine).glob("session-*.jsonl"), reverse=True):
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        if spread := [line for line in lines if line["kind"] == "spread"]:
            return conclusion(spread)
    return conclusion([])


def summary(results: Path, machine: str) -> str:
    """Return all of it as Markdown, for a machine with stored results."""
    values = newest_values(results, machine)
    parts = {
        "From which batch is the GPU faster?": crossings(values),
        "Is each forecaster and small CNN faster on the GPU than on this machine's CPU, eager, at "
        "its source's batch? The CPU's time over the GPU's": faster_on_gpu(values),
        "Does a CUDA graph take at most three times as long as its kernels? Its time over "
        "theirs": graphs_near_kernels(values),
        "Why do eager values differ between processes?": _spread(results, machine),
    }
    return "\n\n".join(f"**{question}**\n\n{answer}" for question, answer in parts.items())


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu.summary", description=__doc__)
    parser.add_argument("machine", help="name of a folder of results/, such as h200")
    machine = parser.parse_args(arguments).machine
    results = ROOT / "results"
    if not (results / machine / "machine.json").is_file():
        known = ", ".join(sorted(path.parent.name for path in results.glob("*/machine.json")))
        parser.error(f"results/ has no machine {machine!r}; choose one of {known}")
    print(summary(results, machine))


if __name__ == "__main__":
    main(sys.argv[1:])
