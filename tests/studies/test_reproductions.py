"""Each published figure and table is one command: what it draws and shows, at its smallest."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.data.test_series import write_series
from torchspeed.cli import reproduce
from torchspeed.cli.main import main
from torchspeed.studies import reproductions
from torchspeed.training.config import RunConfig

PUBLISHED = {
    "workers": ["13.25", "17.95", "1.286", "0.079"],
    "batch-size": ["41.96", "4.614", "PyTorch [2]", "[1] The loss is Flux's at batch 32."],
    "phases": ["0.2378", "5.255"],
    "inference": ["0.1128", "0.0955"],
    "expected-speed": ["0.943", "0.927", "0.67", "0.621", "1 here / 1 A40"],
    "smooth-inference": ["0.3265", "0.0468", "The authors' log has a forward time of 0.0559 s"],
    "cnn-epoch": ["82.47", "0.8288"],
    "time-series": ["13.81", "0.5286", "the same work as Flux"],
    "adam-steps": ["40.55", "60.95", "the same work as Flux"],
    "exchange-rates": ["0.0226", "0.9381"],
}
"""Some of what each table has to show."""


def one_second_per_call(run: Callable[[], object], *_: object) -> float:
    run()
    return 1.0


@pytest.mark.parametrize("name", reproduce.NAMES)
def test_a_published_figure_is_one_command(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if name == "exchange-rates":
        monkeypatch.setattr("torchvision.datasets.utils.check_integrity", lambda *_: True)
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
    assert '"model"' not in (tmp_path / f"{name}.jsonl").read_text()  # none was chosen
    if name in ("phases", "inference", "smooth-inference"):  # a legend names what was measured
        assert ("<!-- backward -->" in picture) == (name == "phases")


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
    assert "round 1 of 3, model darnn" in shown.err
    assert shown.err.endswith("torchspeed: interrupted\n")
    assert (tmp_path / "time-series.svg").exists()
    [line] = (tmp_path / "time-series.jsonl").read_text().splitlines()
    assert json.loads(line)["values"]["here, cpu, the papers' models"]["forward"] == 0.125


def test_other_models_and_data_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["--limit-batches", "2", "--rounds", "1", "--threads", "1"]

    def small(config: RunConfig, full: bool) -> RunConfig:
        del full
        return replace(config, data="digits", batch_size=8, rate=0.1, epochs=1)

    monkeypatch.setattr(reproductions, "_lenet", small)
    assert main(["reproduce", "workers", "-m", "resnet18_mnist", *few]) == 0
    assert "here, resnet18_mnist, digits" in capsys.readouterr().err
    line = json.loads((tmp_path / "workers.jsonl").read_text().splitlines()[0])
    assert (line["model"], line["round"]) == ("resnet18_mnist", 1)
