"""Rows, groups and columns follow from a project's own benchmarks and parameters."""

from __future__ import annotations

import pytest

from asv_watch.records.labels import case_labels, measures_models
from asv_watch.records.records import Benchmark, Case
from asv_watch.site.layout import layout_of
from asv_watch.site.names import row_name

SIZES = ("'Small'", "'Big'")


def benchmark(name: str, **params: tuple[str, ...]) -> Benchmark:
    return Benchmark(name, "time", "seconds", tuple(params), tuple(params.values()))


def test_a_project_of_models_has_columns_of_devices_and_passes() -> None:
    suites = [benchmark("cnns.CNNs.time_forward", model=("'a'",), device=("'cpu'",))]
    layout = layout_of([*suites, benchmark("imports.Imports.time_import", package=("'x'",))])
    assert (layout.subject, layout.columns) == ("model", ("device", "pass"))
    assert layout.group(suites[0]) == "CNNs"


@pytest.mark.parametrize(
    ("benchmarks", "columns"),
    [
        ([benchmark("a.A.time_x"), benchmark("a.A.time_y")], ()),
        ([benchmark("a.time_x", size=SIZES), benchmark("a.time_y", size=SIZES)], ("size",)),
        ([benchmark("a.time_x", size=SIZES), benchmark("a.time_y")], ()),  # of one benchmark
        ([benchmark(f"a.time_{i}", n=tuple("1234567")) for i in "ab"], ()),  # too many values
        (
            [benchmark(f"a.time_{i}", size=SIZES, way=("1", "2", "3"), c=SIZES) for i in "ab"],
            ("c", "size"),
        ),
        ([benchmark(f"a.time_{i}", size=("5",)) for i in "ab"], ()),  # nothing to compare
    ],
)
def test_parameters_that_benchmarks_share_are_columns(
    benchmarks: list[Benchmark], columns: tuple[str, ...]
) -> None:
    layout = layout_of(benchmarks)
    assert (layout.subject, layout.columns) == ("benchmark", columns)


def test_benchmarks_are_grouped_by_module_and_class_and_share_the_metric_of_their_kind() -> None:
    long_lines = benchmark("parsing.Parser.time_long_lines", size=SIZES)
    tracked = Benchmark("parsing.track_errors", "track", "errors")
    plain = benchmark("time_alone")
    benchmarks = [long_lines, tracked, plain]
    layout = layout_of(benchmarks)
    groups = [layout.group(entry) for entry in benchmarks]
    assert groups == ["parsing · Parser", "parsing", ""]
    assert not measures_models(benchmarks)
    labels = case_labels(long_lines, ("'Big'",), of_models=False)
    assert labels == {"size": "Big", "metric": "time"}
    assert case_labels(tracked, (), of_models=False)["metric"] == "errors"
    case = Case(long_lines.name, ("'Big'",), labels)
    assert row_name(case) == "long lines"
