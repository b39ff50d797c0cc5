"""Rows, groups and columns follow from what a project declares, or else from its benchmarks."""

from typing import Any

import msgspec
import pytest

from asv_watch.errors import WatchError
from asv_watch.records.labels import UNDECLARED, Layout, with_columns
from asv_watch.records.records import Benchmark, Case

SIZES = ("'Small'", "'Big'")
DECLARED = Layout(
    rows="model",
    columns=("device", "pass"),
    words={"pass": ("forward", "backward")},
    labels={"implementation": {"plain": "plain", "": "tuned"}},
    spelling={"cnns": "CNNs", "flops": "FLOPs"},
)


def benchmark(name: str, **params: tuple[str, ...]) -> Benchmark:
    prefix = name.rpartition(".")[2].partition("_")[0]
    kind = {"peakmem": "peakmemory"}.get(prefix, prefix)
    unit = {"time": "seconds", "peakmemory": "bytes"}.get(kind, "unit")
    return Benchmark(name, kind, unit, tuple(params), tuple(params.values()))


def test_with_declared_rows_names_of_functions_and_classes_tell_the_rest() -> None:
    for name, metric in {
        "a.A.time_forward": "time",
        "a.A.peakmem_backward": "peak memory",
        "a.A.time_epoch": "epoch time",
        "a.A.track_flops_forward": "FLOPs",
        "a.TimeToAccuracy.track_seconds": "time to accuracy",
        "a.Accuracy.track_forward": "Accuracy",
    }.items():
        assert DECLARED.labels_of(benchmark(name), ())["metric"] == metric, name
    assert DECLARED.group(benchmark("small_cnns.CNNs.time_forward")) == "small CNNs"
    without_model = Case("imports.Imports.time_import", (), {})
    assert DECLARED.row(without_model) == "Imports"


@pytest.mark.parametrize("wrong", [{"rows": "modle"}, {"columns": ("pass", "modle")}])
def test_rows_and_columns_that_no_suite_knows_are_an_error(wrong: dict[str, Any]) -> None:
    forward = benchmark("plain.CNNs.time_forward", model=("'a'",), device=("'cpu'",))
    layout = msgspec.structs.replace(DECLARED, **wrong)
    named = f'"{next(iter(wrong))}" of "layout" in asv.conf.json names \'modle\''
    with pytest.raises(WatchError, match=f"{named}.*name one of device, .*, model, pass"):
        with_columns(layout, [forward])


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
    assert with_columns(UNDECLARED, benchmarks).columns == columns


def test_benchmarks_are_grouped_by_module_and_class_and_share_the_metric_of_their_kind() -> None:
    long_lines = benchmark("parsing.Parser.time_long_lines", size=SIZES)
    tracked = Benchmark("parsing.track_errors", "track", "errors")
    groups = [UNDECLARED.group(one) for one in (long_lines, tracked, benchmark("time_alone"))]
    assert groups == ["parsing · Parser", "parsing", ""]
    labels = UNDECLARED.labels_of(long_lines, ("'Big'",))
    assert labels == {"size": "Big", "metric": "time"}
    assert UNDECLARED.labels_of(tracked, ())["metric"] == "errors"
    assert UNDECLARED.row(Case(long_lines.name, ("'Big'",), labels)) == "long lines"
