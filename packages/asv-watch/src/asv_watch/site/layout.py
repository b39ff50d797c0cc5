"""The values of parameters, and the columns of a project that declares none."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from asv_watch.errors import WatchError
from asv_watch.records.labels import Layout, plain_value
from asv_watch.records.records import Benchmark

MOST_COLUMNS = 6
"""Most columns of a matrix, if they are not declared."""
_MOST_PARAMETERS = 2
_LEAST_SHARE = 1 / 3
"""Share of the benchmarks that must have a parameter for its values to become columns."""


def parameter_values(benchmarks: Iterable[Benchmark]) -> dict[str, list[str]]:
    """Return the values of each parameter, in the order of the suite that lists most of them."""
    lists: dict[str, list[list[str]]] = {}
    for benchmark in benchmarks:
        for name, values in zip(benchmark.param_names, benchmark.params, strict=True):
            lists.setdefault(name, []).append([plain_value(value) for value in values])
    for longest_first in lists.values():
        longest_first.sort(key=len, reverse=True)
    return {name: list(dict.fromkeys(chain(*values))) for name, values in lists.items()}


def with_columns(declared: Layout, benchmarks: Sequence[Benchmark]) -> Layout:
    """Return a project's layout, with the parameters that most benchmarks share as columns.

    Raises:
        WatchError: rows or columns are declared to be a label that no case can have.
    """
    values = parameter_values(benchmarks)
    labels = {"metric", *values, *declared.words, *declared.labels}
    for key, names in (("rows", filter(None, [declared.rows])), ("columns", declared.columns)):
        for name in names:
            if name not in labels:
                raise WatchError(
                    f'"{key}" of "layout" in asv.conf.json names {name!r}, which is neither a '
                    "parameter of a suite nor another label; name one of "
                    f"{', '.join(sorted(labels))}"
                )
    if declared.columns:
        return declared
    owners = Counter(name for benchmark in benchmarks for name in benchmark.param_names)
    chosen: list[str] = []
    for name, count in sorted(owners.items(), key=lambda owner: (-owner[1], owner[0])):
        columns = math.prod(len(values[other]) for other in (*chosen, name))
        is_shared = count > 1 and count >= _LEAST_SHARE * len(benchmarks)
        if is_shared and len(values[name]) > 1 and columns <= MOST_COLUMNS:
            chosen.append(name)
    return msgspec.structs.replace(declared, columns=tuple(chosen[:_MOST_PARAMETERS]))
