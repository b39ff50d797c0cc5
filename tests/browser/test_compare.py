"""Comparison: models side by side and the ratios between them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable

import pytest

from tests.asv_watch.site.stored_values import values_of
from tests.browser.visitor import Site, Visitor, history, plain, size


def newest(site: Site, machine: str, torch: str, metric: str) -> dict[tuple[str, ...], float]:
    """(model with batch, device, pass) to the newest value."""
    index = site.index
    result: dict[tuple[str, ...], float] = {}
    for entry in index["series"]:
        if (
            index["machines"][entry["m"]]["name"] == machine
            and index["environments"][entry["e"]]["torch"] == torch
            and index["metrics"][index["benchmarks"][entry["b"]]["metric"]]["label"] == metric
            and entry["last"]
        ):
            labels = entry["labels"]
            row = labels["model"] + (f" batch {labels['batch']}" if "batch" in labels else "")
            result[row, labels["device"], labels.get("pass", "")] = entry["last"]["v"]
    return result


def table(visitor: Visitor) -> dict[str, dict[str, str]]:
    place = "#compare-app table.list"
    heads = [plain(text) for text in visitor.page.locator(f"{place} thead th").all_inner_texts()]
    return {row[0]: dict(zip(heads[1:], row[1:], strict=True)) for row in visitor.rows(place)}


def marks(visitor: Visitor, selector: str) -> int:
    return visitor.page.locator(f"#compare-app .chart-frame {selector}").count()


def texts(visitor: Visitor) -> list[str]:
    result = visitor.page.locator("#compare-app .chart-frame svg text").all_text_contents()
    return [plain(text) for text in result]


def test_dots_on_a_logarithmic_axis_show_every_newest_figure(site: Site, visitor: Visitor) -> None:
    visitor.go("#/compare")
    truth = newest(site, "gpu-lab", "2.15.0", "time")
    shown = table(visitor)
    for (row, device, way), value in truth.items():
        assert size(shown[row][f"{device} · {way}"]) == pytest.approx(value, rel=0.006)
    assert marks(visitor, "path.dot") == len(truth)
    assert marks(visitor, "rect.bar") == 0
    assert len([text for text in texts(visitor) if text.endswith(("ms", "µs"))]) > len(truth)
    slowest = max(truth, key=lambda key: truth[key])[0]
    assert next(iter(shown)) == slowest, "largest first answers which is slowest"


def test_bars_start_at_zero_on_a_linear_axis(visitor: Visitor) -> None:
    visitor.go("#/compare")
    visitor.choose("scale", "linear")
    assert marks(visitor, "rect.bar") > 0
    assert marks(visitor, "path.dot") == 0
    assert "0 s" in texts(visitor)


def test_relative_to_any_column_bars_start_at_one(site: Site, visitor: Visitor) -> None:
    visitor.go("#/compare")
    visitor.choose("norm", "cpu · forward")
    truth = newest(site, "gpu-lab", "2.15.0", "time")
    shown = table(visitor)
    ratios = []
    for (row, device, way), value in truth.items():
        if (device, way) != ("cuda", "forward") or (row, "cpu", "forward") not in truth:
            continue
        ratio = value / truth[row, "cpu", "forward"]
        ratios.append(ratio)
        output = re.search(r"\(([\d.]+)×\)", shown[row]["cuda · forward"])
        assert output is not None
        assert float(output[1]) == pytest.approx(ratio, rel=0.01, abs=0.001)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    assert f"cuda · forward {mean:.2f}"[:-1] in visitor.text("#compare-app .note")
    assert f"of {len(ratios)}" in visitor.text("#compare-app .note")
    assert "1×" in texts(visitor)
    assert marks(visitor, "line.one") >= 1


def test_side_by_side_by_torch_release(site: Site, visitor: Visitor) -> None:
    page = visitor.go("#/compare?device=cpu&pass=forward")
    for name, wanted in (("torch release", True), ("device", False), ("pass", False)):
        page.get_by_role("checkbox", name=name, exact=True).set_checked(wanted)
        visitor.settled()
    assert "by=torch" in visitor.address
    shown = table(visitor)
    torches = ("2.14.1", "2.15.0")
    for model in ("darnn", "dsanet", "lenet5"):
        suite = "small_cnns.SmallCNNs" if model == "lenet5" else "time_series.TimeSeries"
        case = f"{suite}.time_forward('{model}', 'cpu')"
        values = [history(site, case, "gpu-lab", torch)["values"] for torch in torches]
        common = [commit for commit in values[0] if commit in values[1]][-1]
        for torch, of_torch in zip(torches, values, strict=True):
            cell = shown[f"{model} cpu forward"][f"torch {torch}"]
            assert size(cell) == pytest.approx(of_torch[common], rel=0.006)
    assert "compared at one commit" in visitor.text("#compare-app .note")


def test_side_by_side_by_revision_and_machine(site: Site, visitor: Visitor) -> None:
    old, new = site.generated.measured[0][:8], site.generated.measured[-1][:8]
    visitor.go(f"#/compare?by=revision&by=device&rev={new}&other={old}&m=gpu-lab")
    heads = set(next(iter(table(visitor).values())))
    assert {f"cpu · {old}", f"cpu · {new}", f"cuda · {old}", f"cuda · {new}"} == heads
    visitor.go("#/compare?by=machine&device=cpu")
    assert {"ci-2core", "gpu-lab"} == set(next(iter(table(visitor).values())))


def test_figures_of_an_older_revision(site: Site, visitor: Visitor) -> None:
    commit = site.generated.measured[3]
    at = [entry[0] for entry in site.index["commits"]].index(commit)
    visitor.go("#/compare")
    visitor.type("rev", commit[:8])
    assert commit[:8] in visitor.text("#compare-app .note")
    block = site.data(f"r/{at // site.index['block']}")
    shown = " ".join(" ".join(row.values()) for row in table(visitor).values())
    index = site.index
    series = next(
        number
        for number, entry in enumerate(index["series"])
        if index["machines"][entry["m"]]["name"] == "gpu-lab"
        and index["environments"][entry["e"]]["torch"] == "2.15.0"
        and entry["labels"]
        == {**entry["labels"], "model": "dsanet", "device": "cpu", "pass": "forward"}
        and index["benchmarks"][entry["b"]]["metric"] == 0
    )
    value = values_of(block["series"][series])[at % index["block"]]
    assert any(size(text) == pytest.approx(value, rel=0.006) for text in figures(shown))


def figures(text: str) -> list[str]:
    return re.findall(r"[\d.]+ (?:ms|µs|s|ns)\b", text)


def test_speed_up_of_the_gpu_over_the_cpu(site: Site, visitor: Visitor) -> None:
    visitor.go("#/compare")
    visitor.choose("show", "devices")
    truth = newest(site, "gpu-lab", "2.15.0", "time")
    shown = table(visitor)
    pairs = 0
    for (row, device, way), value in truth.items():
        if device == "cuda" and (row, "cpu", way) in truth:
            output = float(shown[row][f"cuda · {way}"].rstrip("×"))
            assert output == pytest.approx(truth[row, "cpu", way] / value, rel=0.01, abs=0.001)
            pairs += 1
    assert pairs >= 10
    assert marks(visitor, "rect.bar") == pairs
    assert "above 1× the device is faster" in visitor.text("#compare-app .note")


def test_backward_over_forward(site: Site, visitor: Visitor) -> None:
    visitor.go("#/compare?show=passes")
    truth = newest(site, "gpu-lab", "2.15.0", "time")
    shown = table(visitor)
    row, value = next(
        (key[0], value) for key, value in truth.items() if key[1:] == ("cpu", "backward")
    )
    output = float(shown[row]["backward · cpu"].rstrip("×"))
    assert output == pytest.approx(value / truth[row, "cpu", "forward"], rel=0.01)


def test_a_mode_of_ours_is_not_put_beside_a_published_figure(
    modes: Site, visit: Callable[..., Visitor]
) -> None:
    visitor = visit(modes.url)
    visitor.go("#/compare?show=published")
    shown = table(visitor)
    assert shown, "darnn was published"
    assert {row["ours"] for row in shown.values()} == {"–"}


def test_eager_against_compiled(modes: Site, visit: Callable[..., Visitor]) -> None:
    visitor = visit(modes.url)
    visitor.go("#/compare")
    visitor.choose("show", "modes")
    shown = table(visitor)
    assert shown
    heads = set(next(iter(shown.values())))
    assert any("compiled" in head for head in heads)
    assert all(
        cell == "–" or cell.endswith("×") for row in shown.values() for cell in row.values()
    )
    visitor.go("#/compare?by=mode&device=cpu&pass=forward")
    assert {"eager", "compiled"} == set(next(iter(table(visitor).values())))


def test_time_against_memory(site: Site, visitor: Visitor) -> None:
    visitor.go("#/compare")
    visitor.choose("show", "memory")
    times = newest(site, "gpu-lab", "2.15.0", "time")
    memory = newest(site, "gpu-lab", "2.15.0", "peak memory")
    both = times.keys() & memory.keys()
    assert marks(visitor, "path.dot") == len(both)
    rows = visitor.rows("#compare-app table.list")
    assert len(rows) == len(both)
    entry = next(row for row in rows if row[0] == "darnn cpu forward")
    assert size(entry[1]) == pytest.approx(times["darnn", "cpu", "forward"], rel=0.006)
    assert size(entry[2]) == pytest.approx(memory["darnn", "cpu", "forward"], rel=0.006)


def test_published_figures_beside_ours(site: Site, visitor: Visitor) -> None:
    visitor.go("#/compare")
    visitor.choose("show", "published")
    truth = newest(site, "gpu-lab", "2.15.0", "time")
    rows = visitor.rows("#compare-app table.list")
    theirs = [quoted for quoted in site.index["published"] if quoted["model"] == "darnn"]
    assert theirs
    for entry in theirs:
        name = " · ".join([entry["model"], entry["device"], entry["pass"]])
        [row] = [
            row for row in rows if row[0] == name and row[4].startswith(plain(entry["source"]))
        ]
        ours = truth["darnn", entry["device"], entry["pass"]]
        assert size(row[1]) == pytest.approx(ours, rel=0.006)
        assert size(row[2]) == pytest.approx(entry["value"], rel=0.006)
        assert float(row[3].rstrip("×").replace(" ", "")) == pytest.approx(
            entry["value"] / ours, rel=0.01
        )
    assert marks(visitor, ".dot.published") == len(site.index["published"])
    assert "other machines" in visitor.text("#compare-app .note")


def test_filters_and_order(visitor: Visitor) -> None:
    visitor.go("#/compare?order=suite")
    suites = list(table(visitor))
    visitor.choose("order", "value")
    assert list(table(visitor)) != suites
    assert sorted(table(visitor)) == sorted(suites)
    visitor.choose("metric", "peak-memory-bytes")
    assert any(text.endswith("MiB") for text in texts(visitor))
    visitor.choose("device", "cuda")
    visitor.choose("pass", "forward")
    assert {"cuda · forward"} == set(next(iter(table(visitor).values())))
    visitor.type("q", "resnet18")
    assert all(name.startswith("resnet18") for name in table(visitor))
    visitor.type("q", "nothing like this")
    assert "No value passes the filters" in visitor.text("#compare-app .notice")


def test_a_missing_figure_says_why(visitor: Visitor) -> None:
    visitor.go("#/compare?m=ci-2core")
    assert "skipped" in texts(visitor) or "cuda · forward" not in next(
        iter(table(visitor).values())
    )


def downloaded(visitor: Visitor, address: str) -> list[list[str]]:
    page = visitor.go(address)
    with page.expect_download() as waiting:
        page.locator("#compare-app").get_by_role("button", name="Download CSV").click()
    return list(csv.reader(io.StringIO(waiting.value.path().read_text())))


@pytest.mark.parametrize(
    ("address", "text", "unit"),
    [
        ("#/compare", {"model"}, "(seconds)"),
        ("#/compare?norm=cpu+·+forward", {"model"}, "/ cpu · forward (ratio)"),
        ("#/compare?show=passes", {"model"}, "(ratio)"),
        ("#/compare?show=memory", {"case"}, "memory_bytes"),
        ("#/compare?show=published", {"case", "unit", "source", "note"}, "published"),
    ],
)
def test_csv_holds_the_table_as_numbers(
    visitor: Visitor, address: str, text: set[str], unit: str
) -> None:
    head, *rows = downloaded(visitor, address)
    assert len(rows) == len(visitor.rows("#compare-app table"))
    assert any(name.endswith(unit) for name in head)
    numbers = [
        (name, cell)
        for row in rows
        for name, cell in zip(head, row, strict=True)
        if name not in text and cell
    ]
    assert numbers
    for name, cell in numbers:
        assert float(cell) > 0, name


def test_csv_gives_values_as_they_are_published(site: Site, visitor: Visitor) -> None:
    head, *rows = downloaded(visitor, "#/compare?m=gpu-lab")
    truth = newest(site, "gpu-lab", "2.15.0", "time")
    [darnn] = [row for row in rows if row[0] == "darnn"]
    assert float(darnn[head.index("cpu · forward (seconds)")]) == truth["darnn", "cpu", "forward"]
