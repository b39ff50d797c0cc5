"""Measures what each tuned model gains over the plain one, for the site's view Compare.

``python -m tools.plain_to_tuned MACHINE [MODEL...]`` interleaves both implementations of the named
models, or of all that have two, on one thread of the CPU, as their suites run them. As in any
comparison, each round is a new process, because the layout of memory differs from one to another.
The numbers of every round are stored in docs/models/plain_to_tuned.json (key ``case_comparisons``
of asv.conf.json); ratios and intervals are asv-watch's. MACHINE is asv's name of this machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from asv_watch.statistics.ratio import faster_half
from benchmarks._cases import SMALL_CNNS, TIME_SERIES
from torchspeed.files import write_whole
from torchspeed.measure.formulations import measure
from torchspeed.measure.processes import keep_memory
from torchspeed.models import has_tuned

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "models" / "plain_to_tuned.json"
TUNED_SUITES = {
    **dict.fromkeys(TIME_SERIES, "time_series.TimeSeries"),
    **dict.fromkeys(SMALL_CNNS, "small_cnns.SmallCNNs"),
}
"""Maps a model to the suite of its tuned implementation."""
MODELS = [model for model in TUNED_SUITES if has_tuned(model)]
PASSES = ("forward", "backward")
ROUNDS = 8
SAMPLES = 3
"""Samples of plain, tuned, tuned, plain in a round."""


def case_name(suite: str, pass_name: str, model: str) -> str:
    """Return asv's name of a case."""
    return f"{suite}.time_{pass_name}({model!r}, 'cpu')"


def measure_round(model: str) -> dict[str, list[float]]:
    """Return the seconds of a call, plain and tuned, by pass: one round, in this process."""
    keep_memory()
    torch.set_num_threads(1)
    found = {}
    for name in PASSES:
        sides = measure(model, "cpu", name, None, SAMPLES).T.tolist()
        halves = (faster_half(side, lambda seconds: seconds) for side in sides)
        found[name] = [sum(half) / len(half) for half in halves]
    return found


def measure_model(model: str, rounds: int = ROUNDS) -> Iterator[dict[str, Any]]:
    """Yield both passes of a model as the site reads them, each round from a new process."""
    command = [sys.executable, "-m", "tools.plain_to_tuned", "--round", model]
    found = [
        json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
        for _ in range(rounds)
    ]
    for name in PASSES:
        yield {
            "before": case_name("plain.PlainModels", name, model),
            "after": {
                "case": case_name(TUNED_SUITES[model], name, model),
                "at": int(time.time()),
                "rounds": [of_round[name] for of_round in found],
            },
        }


def measure_all(machine: str, models: Sequence[str], data: Path, rounds: int = ROUNDS) -> None:
    """Measure models and write the file anew after each; other models of the machine stay."""
    kept = json.loads(data.read_text(encoding="utf-8")) if data.exists() else {}
    pairs = kept["pairs"] if kept.get("machine") == machine else []
    for model in models:
        new = list(measure_model(model, rounds))
        cases = {pair["after"]["case"] for pair in new}
        pairs = [pair for pair in pairs if pair["after"]["case"] not in cases] + new
        content = {"machine": machine, "conditions": f"torch {torch.__version__}", "pairs": pairs}
        write_whole(data, f"{json.dumps(content, indent=1)}\n".encode())
        print(f"{model}: stored", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Measure one round, or all rounds of the named models."""
    if not arguments:
        sys.exit("name this machine, as asv does: python -m tools.plain_to_tuned MACHINE")
    machine, *models = arguments
    if unknown := set(models).difference(MODELS):
        sys.exit(
            f"no model with two implementations: {', '.join(unknown)}; name {', '.join(MODELS)}"
        )
    if machine == "--round":
        print(json.dumps(measure_round(*models)))
    else:
        measure_all(machine, models or MODELS, DATA)


if __name__ == "__main__":
    main(sys.argv[1:])
