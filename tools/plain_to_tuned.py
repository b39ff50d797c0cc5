"""Measures what each tuned model gains over the plain one, for the site's view Compare.

``python -m tools.plain_to_tuned MACHINE [MODEL...]`` compares the named models, or all that have
both implementations, on one thread of the CPU, with the torch that is installed. The engine
measures them as it does two versions: the plain case before, the tuned one after, interleaved
until the ratio is known. The numbers of every round are stored in docs/models/plain_to_tuned.json
(key ``case_comparisons`` of asv.conf.json). MACHINE is asv's name of this machine.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from importlib import metadata
from itertools import product
from pathlib import Path

import msgspec

from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import read_configuration
from asv_watch.comparison import Comparison
from asv_watch.engine.cases import choose_cases, list_benchmarks_in
from asv_watch.engine.rounds import DEFAULT, Sampling, measure_cases
from asv_watch.engine.sides import Side
from asv_watch.files import write_whole
from asv_watch.site.declared_files import CasePair, ComparedCases, read_case_comparisons
from benchmarks._cases import TIME_SERIES, TUNED_CNNS

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "models" / "plain_to_tuned.json"
TUNED_SUITES = {
    **dict.fromkeys(TIME_SERIES, "time_series.TimeSeries"),
    **dict.fromkeys(TUNED_CNNS, "small_cnns.SmallCNNs"),
}
"""Maps a model to the suite of its tuned implementation."""
MODELS = list(TUNED_SUITES)


def measure(machine: str, models: Sequence[str], data: Path, sampling: Sampling = DEFAULT) -> None:
    """Measure models, and store each case when it is measured; other stored cases stay."""
    configuration = read_configuration(ROOT)
    here = dataclasses.replace(configuration.environments[0], folder=Path(sys.prefix))
    plain = Side("plain", ROOT / "src", here, ROOT / "benchmarks")
    declared = configuration.declared
    benchmarks = list_benchmarks_in(plain, declared)
    chosen = choose_cases(benchmarks, Selection(), declared, "time")
    listed = {case.name: case for case in chosen}
    tuned_names = {
        f"plain.PlainModels.{case}": f"{TUNED_SUITES[model]}.{case}"
        for model, name in product(models, ("forward", "backward"))
        for case in (f"time_{name}({model!r}, 'cpu')",)
    }
    other_cases = {
        listed[name].identity: listed[tuned].identity for name, tuned in tuned_names.items()
    }
    tuned = dataclasses.replace(plain, name="tuned", other_cases=other_cases)
    conditions = f"torch {metadata.version('torch')}"

    def keep(result: Comparison) -> None:
        if result.failed or result.skipped:
            sys.exit(f"{result.case}: {result.failed or result.skipped}")
        after = msgspec.structs.replace(result, case=tuned_names[result.case])
        store(data, machine, conditions, CasePair(result.case, after))

    measure_cases((plain, tuned), [listed[name] for name in tuned_names], keep, sampling)


def store(data: Path, machine: str, conditions: str, pair: CasePair) -> None:
    """Store a pair in the file; it keeps other pairs of this machine and drops another's."""
    kept = read_case_comparisons((data,)) if data.exists() else []
    pairs = kept[0].pairs if kept and kept[0].machine == machine else ()
    others = [other for other in pairs if other.before != pair.before]
    compared = ComparedCases(machine, conditions, (*others, pair))
    write_whole(data, msgspec.json.format(msgspec.json.encode(compared), indent=1) + b"\n")


def main(arguments: Sequence[str]) -> None:
    """Read the command line."""
    if not arguments:
        sys.exit("name this machine, as asv does: python -m tools.plain_to_tuned MACHINE")
    machine, *models = arguments
    if unknown := set(models).difference(MODELS):
        sys.exit(
            f"no model with two implementations: {', '.join(unknown)}; name {', '.join(MODELS)}"
        )
    measure(machine, models or MODELS, DATA)


if __name__ == "__main__":
    main(sys.argv[1:])
