"""Each published figure and table is one command: what it draws and shows, at its smallest."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from matplotlib.figure import Figure

from tests.data.test_series import write_series
from torchspeed.cli import reproduce
from torchspeed.cli.main import main
from torchspeed.errors import TorchspeedError
from torchspeed.studies import figures, reproductions
from torchspeed.studies.measuring import Measurements, Point, Summary
from torchspeed.training.config import RunConfig

PUBLISHED = {
    "workers": ["13.25", "17.95", "1.286", "0.079"],
    "batch-size": ["41.96", "4.614", "PyTorch [2]", "[1] The loss is Flux's at batch 32."],
    "phases": ["0.2378", "5.255"],
    "inference": ["0.1128", "0.0955"],
    "expected-speed": ["0.943", "0.8473", "0.621", "0.2108", "0.6546"],
    "smooth-inference": ["0.3265", "0.0468", "The authors' log has a forward time of 0.0559 s"],
    "cnn-epoch": ["82.47", "0.8288"],
    "time-series": ["13.81", "0.5286", "the same work as Flux"],
    "adam-steps": ["40.55", "60.95", "the same work as Flux"],
    "exchange-rates": ["0.0226", "0.9381"],
}
"""Some of what each table has to show."""


def one_second_per_call(run: Callable[[], object], *_: object) -> float:
    """Call once, and say that it took a second."""
    run()
    return 1.0


@pytest.mark.parametrize("name", reproduce.NAMES)
def test_a_published_figure_is_one_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    if name == "exchange-rates":
        (tmp_path / "data").mkdir()
        write_series(tmp_path / "data" / "exchange_rate.txt.gz", rows=7588)
    monkeypatch.setattr(reproductions, "seconds_per_call", one_second_per_call)
    options = ["--limit-batches", "2", "--rounds", "1"]
    assert main(["reproduce", name, *options]) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    for number in PUBLISHED[name]:
        assert number in shown
    assert "here" in shown
    assert "the mean" not in shown  # its correlation is undefined, and was drawn as 0
    picture = (tmp_path / f"{name}.svg").read_text()
    assert picture.startswith("<?xml")
    if name in ("phases", "inference", "smooth-inference"):  # a legend names what was measured
        assert ("<!-- backward -->" in picture) == (name == "phases")


@pytest.mark.parametrize(("times", "scale"), [([1.3, 1.4], "linear"), ([0.8, 82.0], "log")])
def test_seconds_of_categories_are_on_a_logarithmic_axis_only_where_they_differ_much(
    times: list[float], scale: str
) -> None:
    panel = Figure().subplots()
    marks: list[tuple[str, float | str, Summary]] = [
        ("here", device, Summary(s, s, s, 1)) for device, s in zip("ab", times, strict=True)
    ]
    figures._marks(panel, marks, "device", joined=False, unit="s")
    assert panel.get_yscale() == scale


def test_a_line_has_the_same_colour_in_every_panel() -> None:
    marks: list[tuple[str, float | str, Summary]] = [
        (name, 1.0, Summary(2.0, 2.0, 2.0, 1)) for name in "ab"
    ]
    colours = []
    for panel, shown in zip(Figure().subplots(1, 2), (marks, marks[1:]), strict=True):
        figures._marks(panel, shown, "workers", joined=True, unit="s", lines=("a", "b"))
        [*_, line] = panel.get_legend_handles_labels()[0]
        colours.append(line.lines[0].get_color())
    assert colours[0] == colours[1]


def counted(counts: dict[str, int], name: str) -> Point:
    def measure() -> dict[str, dict[str, float]]:
        counts[name] = counts.get(name, 0) + 1
        return {name: {"time": float(counts[name])}}

    return Point(name, 1.0, measure)


def test_an_interrupted_measurement_goes_on_and_a_finished_one_begins_anew(tmp_path: Path) -> None:
    file, origin = tmp_path / "x.jsonl", {"full": False}
    counts: dict[str, int] = {}
    points = [counted(counts, "a"), counted(counts, "b")]
    first = Measurements(file, origin, points, rounds=3)
    assert [(n, point.name) for n, point in first.missing()] == [
        (1, "a"), (1, "b"), (2, "a"), (2, "b"), (3, "a"), (3, "b"),
    ]  # fmt: skip
    for _, point in list(first.missing())[:3]:
        first.add(point, point.measure())
    file.write_text(file.read_text() + '{"origin": {"fu')  # the machine stopped here
    again = Measurements(file, origin, points, rounds=3)
    assert [(n, point.name) for n, point in again.missing()] == [(2, "b"), (3, "a"), (3, "b")]
    for _, point in list(again.missing()):
        again.add(point, point.measure())
    [(name, x, summaries), _] = again.rows()
    assert (name, x, summaries["time"].median, summaries["time"].rounds) == ("a", 1.0, 2.0, 3)
    assert (summaries["time"].low, summaries["time"].high, summaries["time"].iqr) == (1.5, 2.5, 1)
    assert len(list(Measurements(file, origin, points, rounds=4).missing())) == 2
    assert len(list(Measurements(file, origin, points, rounds=3).missing())) == 6
    assert not file.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"origin": {"full": true}, "point": ["a", 1.0], "values": {}}\n', "with other options"),
        ("notes of mine\n", "damaged or another kind of file"),
        ("[1]\n", "damaged or another kind of file"),
    ],
)
def test_other_files_are_left_as_they_are(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text(content)
    with pytest.raises(TorchspeedError, match=message):
        Measurements(file, {"full": False}, [], rounds=1)
    assert file.read_text() == content


def test_an_interrupted_reproduction_shows_and_draws_what_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    calls = []

    def stop_at_the_second(*_: object) -> float:
        calls.append(1)
        if len(calls) == 3:  # a point is two passes
            raise KeyboardInterrupt
        return 0.125

    monkeypatch.setattr(reproductions, "seconds_per_call", stop_at_the_second)
    assert main(["reproduce", "time-series", "--threads", "1"]) == 130
    shown = capsys.readouterr()
    assert "0.125" in shown.out
    assert "round 1, model darnn" in shown.err
    assert (tmp_path / "time-series.svg").exists()
    monkeypatch.setattr(reproductions, "seconds_per_call", lambda *_: 0.25)
    assert main(["reproduce", "time-series", "--threads", "1", "--rounds", "1"]) == 0
    assert "1 of 8 are measured already" in capsys.readouterr().err
    lines = [
        json.loads(line) for line in (tmp_path / "time-series.jsonl").read_text().splitlines()
    ]
    assert len(lines) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["phases", "-m", "lenet5", "-d", "digits"], "phases has its own model and data"),
        (["workers", "--devices", "2"], "workers runs on one device; leave out --devices"),
    ],
)
def test_options_of_other_figures_are_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_other_models_and_data_and_several_devices_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["--limit-batches", "2", "--rounds", "1", "--threads", "1"]

    def small(chosen: reproductions.Setting) -> RunConfig:
        return replace(chosen.config, data="digits", batch_size=8, rate=0.1, epochs=1)

    monkeypatch.setattr(reproductions, "_lenet", small)
    assert main(["reproduce", "workers", "-m", "resnet18_mnist", *few]) == 0
    assert "here, resnet18_mnist, digits" in capsys.readouterr().err
    assert main(["reproduce", "expected-speed", "--devices", "2", *few]) == 0
    assert "2 here / 2 times 1 here" in capsys.readouterr().out
