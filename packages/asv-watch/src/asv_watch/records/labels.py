"""Names of cases for people, as ``"layout"`` of asv.conf.json declares them.

Labels are data: a name full of markup or quotes comes out as it went in, and is escaped where it
is shown.
"""

import ast
import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain

import msgspec

from asv_watch.errors import WatchError
from asv_watch.records.records import Benchmark, Case

_KIND = re.compile(r"^(time|timeraw|peakmem|mem|track)_")
_METRIC_OF_TYPE = {"time": "time", "peakmemory": "peak memory", "memory": "memory"}

_MOST_COLUMNS = 6
"""Most columns of a matrix, if they are not declared."""
_MOST_PARAMETERS = 2
_LEAST_SHARE = 1 / 3
"""Share of the benchmarks that must have a parameter for its values to become columns."""


@functools.cache
def plain_value(written: str) -> str:
    """Turn a parameter as asv writes it (``repr``) into plain text.

    ``'darnn'`` with its quotes becomes ``darnn``; ``5`` stays ``5``; what is no
    literal of Python passes through unchanged.
    """
    if written[:1] not in ("'", '"') or written[-1:] != written[:1]:
        return written
    try:
        value = ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError):
        return written
    return value if isinstance(value, str) else written


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the rows and columns of a project's tables stand for, and which values share a metric.

    In a project that declares nothing, a row is what a function does, and the metric is the kind
    of its benchmark: ``time``, ``peak memory``, or the unit of a ``track_*``.
    """

    rows: str = ""
    """Parameter whose values are rows. Functions that measure the same then share a metric; other
    words in a function's name give it its own metric: ``epoch time`` for ``time_epoch``."""
    columns: tuple[str, ...] = ()
    """Labels whose values are columns; by default parameters that many benchmarks share."""
    words: dict[str, tuple[str, ...]] = {}
    """Maps labels in functions' names to their values, such as ``warm`` of ``time_warm``."""
    labels: dict[str, dict[str, str]] = {}
    """Maps a label of whole suites to its values by module, class or function of benchmarks. The
    value of ``""`` applies to all other suites with rows, and is not written in their names."""
    spelling: dict[str, str] = {}
    """Maps a word to its spelling: ``CNNs`` for ``cnns``."""
    in_words: dict[str, str] = {}
    """Maps a value of rows or columns to its name in sentences: ``training pass`` for
    ``backward``."""
    operators: dict[str, str] = {}
    """Maps patterns of operators' names (as in `fnmatch`) to names for people."""
    operator_prefixes: tuple[str, ...] = ()
    """Prefixes of operators' names that are removed first, in this order."""
    callers: dict[str, tuple[str, ...]] = {}
    """Maps a primitive of a library, such as ``inner_product``, to patterns of the operators that
    call it; by default those whose names contain its own."""
    levels: dict[str, str] = {}
    """Names of levels of speed, slowest first, to patterns of the cases that belong to them."""

    def labels_of(self, benchmark: Benchmark, params: tuple[str, ...]) -> dict[str, str]:
        """Return the labels of a case: of its suite, its parameters, its function, its metric."""
        name = f"{benchmark.name}."
        labels = {
            label: value
            for label, values in self.labels.items()
            for suite, value in values.items()
            if suite and name.startswith(f"{suite}.")
        }
        values = map(plain_value, params)
        labels |= dict(zip(benchmark.param_names, values, strict=True))
        words = _words(benchmark.name)
        for label, known in self.words.items():
            labels.setdefault(label, next((word for word in words if word in known), ""))
        labels.setdefault("metric", self._metric(benchmark))
        return labels

    def operator(self, name: str) -> str:
        """Return an operator's name for people: as the project declares, or its own in words."""
        for prefix in self.operator_prefixes:
            name = name.removeprefix(prefix)
        declared = (
            words for pattern, words in self.operators.items() if fnmatchcase(name, pattern)
        )
        return next(declared, None) or name.replace("_", " ").strip()

    def calls(self, operator: str, primitive: str) -> bool:
        """Tell by their names whether an operator may call a primitive of a library."""
        patterns = self.callers.get(primitive, (f"*{primitive}*",))
        return any(fnmatchcase(operator, pattern) for pattern in patterns)

    def function(self, benchmark: str) -> str:
        """Return the words of a function's name apart from its kind and its labels."""
        labels = {word for values in self.words.values() for word in values}
        return self._written(word for word in _words(benchmark) if word not in labels)

    def row(self, case: Case) -> str:
        """Return the name of a case's row: by default, what its function does."""
        if not self.rows:
            return self.function(case.benchmark)
        return case.labels.get(self.rows) or ["", *case.benchmark.split(".")][-2]

    def column(self, labels: Mapping[str, str]) -> tuple[str, ...]:
        """Return the column that a case with these labels belongs to."""
        return tuple(labels.get(name, "") for name in self.columns)

    def group(self, benchmark: Benchmark) -> str:
        """Return the heading under which lists show a benchmark.

        If rows are a parameter, it is the module, ``time series``; else it is module and class,
        ``parsing · Parser``, or empty for a function that has neither.
        """
        if not self.rows:
            return " · ".join(benchmark.name.split(".")[:-1])
        return self._written(benchmark.name.partition(".")[0].split("_"))

    def group_order(self, benchmark: Benchmark) -> tuple[int, str]:
        """Return the sort key of a group: the `position` that suites declare, then its name."""
        return (benchmark.position, self.group(benchmark))

    def _written(self, words: Iterable[str]) -> str:
        return " ".join(self.spelling.get(word, word) for word in words)

    def _metric(self, benchmark: Benchmark) -> str:
        """Name what is measured: values of one metric are compared with each other."""
        kind, unit = _METRIC_OF_TYPE.get(benchmark.type, ""), benchmark.unit
        if not self.rows:
            return kind or ("tracked value" if unit == "unit" else unit)
        function = self.function(benchmark.name)
        if kind:
            is_labelled = function != self._written(_words(benchmark.name))
            return kind if is_labelled else f"{function} {kind}"
        owner = ["", *benchmark.name.split(".")][-2]
        if function == "seconds":  # the class name says what is timed
            return " ".join(re.findall("[A-Z]+[a-z0-9]*|[a-z0-9]+", owner)).lower() or function
        return function or ("phase time" if unit == "seconds" else owner) or benchmark.type


UNDECLARED = Layout()


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
        if is_shared and len(values[name]) > 1 and columns <= _MOST_COLUMNS:
            chosen.append(name)
    return msgspec.structs.replace(declared, columns=tuple(chosen[:_MOST_PARAMETERS]))


def _words(benchmark: str) -> list[str]:
    function = benchmark.rpartition(".")[2]
    return [word for word in _KIND.sub("", function).split("_") if word]
