"""Series: their windows, splits, anomalies and loaders, and tables in text files."""

import gzip
import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from torch.utils.data import TensorDataset

from tests.conftest import refused
from torchspeed.data import files
from torchspeed.data.dataset import Scale
from torchspeed.data.files import read_table
from torchspeed.data.load import load_data, make_loader
from torchspeed.data.options import DataOptions
from torchspeed.data.series import Windows, split_series


@given(rows=st.integers(60, 200), window=st.integers(1, 12), horizon=st.integers(1, 12))
def test_each_label_is_in_one_split_after_its_window(rows: int, window: int, horizon: int) -> None:
    values = torch.arange(float(rows)).unsqueeze(1)
    options = DataOptions(window=window, horizon=horizon)
    data: Any = split_series("rows", values.numpy(), ["row"], options, "a test")
    columns = data.target_columns
    labels = []
    for split in (data.train, data.validation, data.test):
        for item, label in split:
            unknown = torch.tensor(0)
            [row] = data.scale.restore(label.double(), columns, unknown).round().tolist()
            last = float(data.scale.restore(item[-1].double(), columns, unknown).round())
            assert last == row - horizon
            assert len(item) == window
            labels.append(row)
    assert labels == list(range(window + horizon - 1, rows))
    assert len(data.test) == rows - int(rows * 0.8)
    assert len(data.validation) == int(rows * 0.8) - int(rows * 0.6)


@given(season=st.integers(2, 12), columns=st.integers(1, 3), seed=st.integers(0, 100))
def test_anomalies_have_no_season_and_it_comes_back(season: int, columns: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = generator.normal(20, 5, (season, columns))
    series = shape[np.arange(100) % season] + generator.normal(0, 1, (100, columns))
    values = torch.from_numpy(series)
    scale = Scale.of(values[:60], season)
    anomalies = scale.normalise(values)
    for phase in range(season):
        means = anomalies[phase:60:season].mean(0)
        assert torch.allclose(means, torch.zeros(columns).double(), atol=1e-9)
    assert torch.allclose(anomalies[:60].std(0, correction=0), torch.ones(columns).double(), 1e-4)
    rows = torch.from_numpy(generator.integers(0, 100, (5, 4)))
    restored = scale.restore(anomalies[rows][..., -1:], slice(columns - 1, columns), rows)
    assert torch.allclose(restored, values[rows][..., -1:])


def monthly(values: torch.Tensor) -> Any:
    options = DataOptions(window=5, horizon=3, target="all", anomalies=True)
    return split_series("months", values.numpy(), ["a", "b"], options, "a test", season=12)


def test_anomalies_know_nothing_of_the_rows_to_validate_and_to_test() -> None:
    values = torch.randn(200, 2)
    other = values.clone()
    other[120:] = 100 * torch.randn(80, 2)
    ours, others = monthly(values), monthly(other)
    for name in ("mean", "deviation", "season"):
        assert torch.equal(getattr(ours.scale, name), getattr(others.scale, name))
    assert torch.equal(ours.train.values[:120], others.train.values[:120])


def test_anomalies_need_a_season_that_the_training_rows_hold() -> None:
    with refused(r"eeg has no known season; leave out --anomalies"):
        load_data("eeg", DataOptions(anomalies=True))
    with refused(r"months has 11 rows to train on, no whole season"):
        monthly(torch.randn(19, 2))


def test_the_monthly_series_holds_anomalies_unless_declined() -> None:
    seasonal: Any = load_data("el_nino", DataOptions(anomalies=False))
    assert seasonal.scale.season is None
    data: Any = load_data("el_nino", DataOptions())
    assert data.scale.season.shape == (12, 1)
    assert data.scale.deviation < 0.6 * seasonal.scale.deviation  # the rest is the season
    rows = torch.arange(len(data.test.values))
    restored, same = (
        each.scale.restore(each.test.values.double(), slice(None), rows)
        for each in (data, seasonal)
    )
    assert torch.allclose(restored, same, atol=1e-5)


def write_series(path: Path, rows: int = 200, features: int = 8) -> np.ndarray:
    values = np.random.default_rng(0).normal(1, 0.1, (rows, features))
    path.parent.mkdir(parents=True)
    np.savetxt(path, values, "%.6f", delimiter=",")
    return values


def test_a_published_series_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "served" / "master" / "exchange_rate" / "exchange_rate.txt.gz"
    values = write_series(file)
    options = DataOptions(data_dir=tmp_path / "data", download=True, window=5, horizon=6)
    answer = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(files, "HOST", f"http://127.0.0.1:{server.server_port}/master")
        with refused("File not found or corrupted"):
            load_data("exchange_rate", options)
        with refused(r"not as it was published; pass --download"):
            load_data("exchange_rate", replace(options, download=False))
        md5 = hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()
        path, _, season = files.PUBLISHED["exchange_rate"]
        monkeypatch.setitem(files.PUBLISHED, "exchange_rate", (path, md5, season))
        load_data("exchange_rate", options)
        server.shutdown()
    data: Any = load_data("exchange_rate", options)
    assert (data.item_shape, data.classes) == ((5, 8), None)
    splits = (data.train, data.validation, data.test)
    assert [len(split) for split in splits] == [120 - 10, 40, 40]
    train = values[:120]
    expected = (values[150:155] - train.mean(0)) / (train.std(0) + 1e-5)
    assert np.allclose(data.test[0][0], expected, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "rows", "features", "column"),
    [("eeg", 800, 4, "pg9"), ("el_nino", 732, 1, "temperature"), ("lorenz", 1000, 3, "z")],
)
def test_embedded_series_need_nothing(name: str, rows: int, features: int, column: str) -> None:
    data: Any = load_data(name, DataOptions(target=column))
    assert data.item_shape == (10, features)
    assert len(data.train) + len(data.validation) + len(data.test) == rows - 12


def test_lorenz_solves_his_equations() -> None:
    data: Any = load_data("lorenz", DataOptions())
    times = np.arange(1, 101) / 10
    exact = solve_ivp(
        lambda _, s: (10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]),
        (0, 10), (1, 1, 1), t_eval=times, rtol=1e-9, atol=1e-9,
    )  # fmt: skip
    ours = data.scale.restore(data.test.values[:100], slice(None), torch.arange(100))
    assert np.allclose(ours, exact.y.T, atol=0.05)


@pytest.mark.parametrize("workers", [0, 2])
def test_the_seed_alone_decides_the_order_of_an_epoch(workers: int) -> None:
    loader = make_loader(TensorDataset(torch.arange(40)), 6, workers=workers)

    def order() -> list[int]:
        return [int(item) for [batch] in loader for item in batch]

    loader.generator.manual_seed(4)
    first = order()
    loader.generator.manual_seed(3)
    other = order()
    loader.generator.manual_seed(4)
    assert order() == first != other
    assert sorted(first) == list(range(40))


@pytest.mark.parametrize("target", [None, 1])
@pytest.mark.parametrize("every_step", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_windows_batch_is_its_items(target: int | None, every_step: bool, workers: int) -> None:
    windows = Windows(torch.randn(50, 3), 6, 4, target, range(5, 44), every_step=every_step)
    batches = make_loader(windows, 8, sampler=range(len(windows)), workers=workers)
    inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
    for index in range(len(windows)):
        label = windows.labels[index]
        assert torch.equal(inputs[index], windows.values[label - 9 : label - 3])
        rows = windows.values[label - 3 : label + 1, windows.columns]
        assert torch.equal(targets[index], rows if every_step else rows[-1])
        assert torch.equal(windows[index][1], targets[index])
    first = windows.labels[0] - (3 if every_step else 0)
    assert first == 9 if not every_step else first >= 5


DATED = "date,a, b\n2020-01-01,1,2\n2020-01-02,3,-4.5e1\n"


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        *((DATED.replace(",", mark), ["a", "b"], [[1, 2], [3, -45]]) for mark in ",;\t"),
        ('\ufeff"1",2\r\n3,4\r\n', ["0", "1"], [[1, 2], [3, 4]]),
        ("hour;load\n0;1,5\n1;2,25\n", ["hour", "load"], [[0, 1.5], [1, 2.25]]),
    ],
)
def test_separators_headers_dates_and_decimal_commas_are_understood(
    tmp_path: Path, text: str, columns: list[str], rows: list[list[float]]
) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    table = read_table(path)
    assert (list(table.columns), table.to_numpy().tolist()) == (columns, rows)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "No columns"),
        ("a,b\n", "no numbers"),
        ("a,b\n1,2\n3\n", "no finite number at row 1, column b"),
        ("day,a\nx,2\ny,3,4\n", "line 3"),
        ("day,a\nx,2,3\ny,3,4\n", "more cells than its first line"),
        ("a,b\n1,2\n3,x\n", "x. at position 1"),
        ("a,b\n1,2\n3,1e39\n", "no finite number at row 1, column b"),
        ("\udcff\n", "utf-8"),
    ],
)
def test_a_fault_is_one_line_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with refused(rf"t\.csv .*{fault}.*; correct it"):
        read_table(path)


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with refused(r"no file .*t\.csv\.gz"):
        read_table(path)
    path.write_bytes(gzip.compress(b"1,2\n" * 1000)[:-9])
    with refused(r"t\.csv\.gz is damaged"):
        read_table(path)


def test_any_csv_is_a_series(tmp_path: Path) -> None:
    rows = "\n".join(f"2020-{i},{i},{i * i}" for i in range(100))
    path = tmp_path / "t.csv"
    path.write_text(f"day,linear,square\n{rows}\n")
    data = load_data(f"csv:{path}", DataOptions(window=4, horizon=5, target="square"))
    assert data.item_shape == (4, 2)
    item, label = data.train[0]
    # One scale a column: the label is on the curve of the inputs.
    step = item[1, 0] - item[0, 0]
    assert label.shape == (1,)
    assert step > 0
    for absent in ("day", "3"):
        with refused(f"no column of numbers '{absent}'.*linear"):
            load_data(f"csv:{path}", DataOptions(target=absent))
    with refused("too few for a window of 90"):
        load_data(f"csv:{path}", DataOptions(window=90))
