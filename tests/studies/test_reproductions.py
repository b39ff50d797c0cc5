"""Each published figure and table is one command: what it draws and shows, at its smallest."""

from pathlib import Path

import pytest
import torch

from tests.data.test_series import write_series
from torchspeed.cli import reproduce
from torchspeed.cli.main import main

PUBLISHED = {
    "workers": ["13.25", "17.95"],
    "batch-size": ["41.96", "4.614"],
    "optimiser": ["sgd", "adam"],
    "rate": ["0.1"],
    "epochs": ["6"],
    "phases": ["0.2378", "5.255"],
    "inference": ["0.1128", "0.0955"],
    "smooth-inference": ["0.3265", "0.0468"],
    "expected-speed": ["0.943", "0.8473", "0.621", "0.2108", "0.6546"],
    "cnn-epoch": ["82.47", "0.8288"],
    "time-series": ["13.81", "0.5286"],
    "exchange-rates": ["0.0226", "0.9381"],
}
"""Some of what each table has to show."""


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
    assert main(["reproduce", name, "--limit-batches", "2"]) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    for number in PUBLISHED[name]:
        assert number in shown
    assert "here" in shown
    assert (tmp_path / f"{name}.svg").read_text().startswith("<?xml")
