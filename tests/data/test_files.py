"""Tables in text files become series; what cannot be one is named in a line."""

import gzip
from pathlib import Path

import pytest

from torchspeed.data.files import read_table
from torchspeed.data.load import load_data
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

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
    with pytest.raises(TorchspeedError, match=rf"t\.csv .*{fault}.*; correct it") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with pytest.raises(TorchspeedError, match=r"no file .*t\.csv\.gz"):
        read_table(path)
    path.write_bytes(gzip.compress(b"1,2\n" * 1000)[:-9])
    with pytest.raises(TorchspeedError, match=r"t\.csv\.gz is damaged"):
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
        with pytest.raises(TorchspeedError, match=f"no column of numbers '{absent}'.*linear"):
            load_data(f"csv:{path}", DataOptions(target=absent))
    with pytest.raises(TorchspeedError, match="too few for a window of 90"):
        load_data(f"csv:{path}", DataOptions(window=90))
