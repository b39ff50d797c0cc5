import gzip
from pathlib import Path

import pytest

from torchspeed.data.catalogue import DataOptions
from torchspeed.data.load import load_data
from torchspeed.data.tables import read_table
from torchspeed.errors import TorchspeedError


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_header_dates_and_separators(tmp_path: Path, separator: str) -> None:
    text = "date,a,b\n2020-01-01,1,2\n2020-01-02,3,-4.5e1\n".replace(",", separator)
    path = write(tmp_path / "t.csv", text)
    table = read_table(path)
    assert table.values.tolist() == [[1, 2], [3, -45]]
    assert table.columns == ("a", "b")
    assert [table.index_of(name, path.name) for name in ("first", "b", "all")] == [0, 1, None]
    for absent in ("date", "3"):
        with pytest.raises(TorchspeedError, match=f"no column of numbers '{absent}' in .*: a, b"):
            table.index_of(absent, path.name)


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("\ufeffa,b\r\n1,2\r\n".encode()))
    assert read_table(path).columns == ("a", "b")


def test_decimal_commas_beside_another_separator(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "hour;load\n0;1,5\n1;2,25\n"))
    assert (table.columns, table.values.tolist()) == (("hour", "load"), [[0, 1.5], [1, 2.25]])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "holds no numbers"),
        ("x,y\nu,v\n", "holds no numbers"),
        ("a,b\n1,2\n3\n", "2 columns, but 1 at row 2"),
        ("day,a\nx,2\ny,3,4\n", "2 columns, but 3 at row 2"),
        ("a,b\n1,2\n3,x\n", "'x' .* row 1, column 2"),
        ("a,b\n1,2\n3,nan\n", "nan at row 1, column b"),
    ],
)
def test_fault_is_named_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(TorchspeedError, match=f"t.csv.*{fault}"):
        read_table(write(tmp_path / "t.csv", text))


def test_any_csv_is_a_series(tmp_path: Path) -> None:
    rows = "\n".join(f"2020-{i},{i},{i * i}" for i in range(100))
    path = write(tmp_path / "t.csv", f"day,linear,square\n{rows}\n")
    data = load_data(f"csv:{path}", DataOptions(window=4, horizon=5, target="square"))
    assert data.item_shape == (4, 2)
    item, label = data.train[0]
    # One scale a column: the label is on the curve of the inputs.
    step = item[1, 0] - item[0, 0]
    assert label.shape == (1,)
    assert step > 0
    with pytest.raises(TorchspeedError, match="too few for a window of 90"):
        load_data(f"csv:{path}", DataOptions(window=90))
