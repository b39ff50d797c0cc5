"""Writes the table of each model's time, plain and tuned, eager and compiled, and its floor.

``python -m tools.implementation_table`` times both passes of the named models, or of all that have
a plain implementation, on one thread of the CPU. Everything about a model is measured in one
process, interleaved, so what slows the machine for a while slows all variants. Each row is stored
in docs/models/implementations.json as soon as it is measured, with the table, which the site shows
(key ``tables`` of asv.conf.json); docs/notes/formulations.md gets the same table.

The floor is that of the pass as a whole (docs/metrics.md): the lower of the two implementations'.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import torch

from asv_watch.machine.facts import machine_facts
from benchmarks.plain import PlainModels
from torchspeed.files import write_whole
from torchspeed.measure.clocks import clock_for
from torchspeed.measure.compilation import cannot_compile
from torchspeed.measure.floor import against_floors, compiled_floor, meter_for, pass_works
from torchspeed.measure.passes import Passes
from torchspeed.measure.peak import Peak
from torchspeed.measure.processes import keep_memory
from torchspeed.models import has_tuned

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "models" / "implementations.json"
PAGE = ROOT / "docs" / "notes" / "formulations.md"
BEGIN = "<!-- begin: written by tools.implementation_table -->\n"
END = "<!-- end: written by tools.implementation_table -->\n"
MODELS = PlainModels.params[0]
PASSES = ("forward", "backward")
VARIANTS = ("plain eager", "tuned eager", "plain compiled", "tuned compiled")
ROUNDS = 7
TITLE = "Implementations"
MEANING = (
    "Plain models are the papers' equations in torch's own layers; tuned ones compute the same, "
    "reformulated for speed; compiled is by torch.compile. Each cell has CPU time, and that time "
    "as a multiple of the floor, the least that arithmetic and memory traffic of the pass take "
    "here [quartiles of the rounds]. All of a row was measured interleaved, in one process."
)


@dataclass(frozen=True)
class Timed:
    """A pass of one variant over the rounds."""

    seconds: float
    """Median."""
    times_floor: tuple[float, float, float]
    """Quartiles of the rounds' ratios to the floor that was measured around them."""


@dataclass(frozen=True)
class Row:
    """A pass of a model."""

    model: str
    pass_name: str
    floor_seconds: float
    """Median."""
    variants: dict[str, Timed]
    measured_at: str
    """UTC, to the minute."""
    torch: str
    cpu: str
    load: float
    """Load of the machine per core, before the measurement."""


def measure(model: str, rounds: int = ROUNDS) -> list[Row]:
    """Time both passes of a model in every variant that it has."""
    measured_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    facts = machine_facts()
    cpu = f"{facts['cpu']}, {facts['cpu model']}"
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    works = pass_works(model, None, "plain"), pass_works(model, None, "tuned")
    meter = meter_for([work for both in works for work in both], Peak("cpu"))
    passes = {
        variant: Passes(
            model,
            "cpu",
            compiled=variant.endswith("compiled"),
            implementation="plain" if variant.startswith("plain") else "tuned",
        )
        for variant in VARIANTS
        if has_tuned(model) or variant.startswith("plain")
    }
    runs = {
        (variant, name): getattr(passes[variant], name) for variant in passes for name in PASSES
    }
    for run in runs.values():
        run()  # compiles, and warms up

    def floors() -> list[float]:
        costs = meter.measure()
        return [
            min(compiled_floor(work, costs) for work in pair) for pair in zip(*works, strict=True)
        ]

    measured = list(against_floors(list(runs.values()), floors, clock_for("cpu"), range(rounds)))
    rows = []
    for index, name in enumerate(PASSES):
        around = [floors[index] for _, floors in measured]
        timed = {}
        for variant in passes:
            case = list(runs).index((variant, name))
            times = [seconds[case] for seconds, _ in measured]
            ratios = [taken / floor for taken, floor in zip(times, around, strict=True)]
            low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
            timed[variant] = Timed(statistics.median(times), (low, middle, high))
        floor = statistics.median(around)
        rows.append(Row(model, name, floor, timed, measured_at, torch.__version__, cpu, load))
    return rows


def table(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the table that the site shows: a row for each pass of a model."""
    return {
        "title": TITLE,
        "note": f"{MEANING} {conditions(rows)}",
        "head": ["model", "pass", "floor", *VARIANTS],
        "rows": [
            [row.model, row.pass_name, f"{_milliseconds(row.floor_seconds)} ms"]
            + [_cell(row.variants.get(variant)) for variant in VARIANTS]
            for row in rows
        ],
    }


def markdown(rows: Sequence[Row]) -> str:
    """Return the table in Markdown."""
    shown = table(rows)
    lines = [shown["head"], ["---"] * len(shown["head"])]
    lines += [[f"`{model}`", *cells] for model, *cells in shown["rows"]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(timed: Timed | None) -> str:
    if timed is None:
        return "as plain"
    low, middle, high = timed.times_floor
    quartiles = f"[{low:#.3g},\N{NO-BREAK SPACE}{high:#.3g}]"
    return f"{_milliseconds(timed.seconds)} ms, {middle:#.3g}x {quartiles}"


def _milliseconds(seconds: float) -> str:
    milliseconds = 1e3 * seconds
    return f"{milliseconds:.3g}" if milliseconds < 1000 else f"{milliseconds:,.0f}"


def conditions(rows: Sequence[Row]) -> str:
    """Return when and how the rows were measured."""
    times = sorted({row.measured_at for row in rows})
    releases, cpus = sorted({row.torch for row in rows}), sorted({row.cpu for row in rows})
    loads = [row.load for row in rows]
    return (
        f"Measured from {times[0]} to {times[-1]} UTC with torch {', '.join(releases)} on one "
        f"thread of {'; '.join(cpus)}, at a load of {min(loads):.1f} to {max(loads):.1f} a core."
    )


def page_with(page: str, rows: Sequence[Row]) -> str:
    """Return the page with the table of these rows between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{MEANING} {conditions(rows)}\n\n{markdown(rows)}{END}{after}"


def write(rows: Sequence[Row], data: Path, page: Path) -> None:
    """Store the rows with their table, and put the table on the page."""
    kept = {**table(rows), "measured": [asdict(row) for row in rows]}
    write_whole(data, f"{json.dumps(kept, indent=1)}\n".encode())
    write_whole(page, page_with(page.read_text(encoding="utf-8"), rows).encode())


def read(path: Path) -> list[Row]:
    """Return the stored rows."""
    kept = json.loads(path.read_text(encoding="utf-8"))["measured"] if path.exists() else []
    return msgspec.convert(kept, list[Row])


def measure_all(models: Sequence[str], data: Path, page: Path) -> None:
    """Measure models, and write the table anew after each."""
    keep_memory()
    torch.set_num_threads(1)
    for model in models:
        rows = [row for row in read(data) if row.model != model] + measure(model)
        rows.sort(key=lambda row: (MODELS.index(row.model), PASSES.index(row.pass_name)))
        write(rows, data, page)
        print(markdown([row for row in rows if row.model == model]), flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1:] or MODELS
    if unknown := set(chosen).difference(MODELS):
        sys.exit(f"no plain model {', '.join(unknown)}; there are {', '.join(MODELS)}")
    if unable := cannot_compile("cpu"):
        sys.exit(unable)
    measure_all(chosen, DATA, PAGE)
