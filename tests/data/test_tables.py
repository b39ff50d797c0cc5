import gzip
from pathlib import Path

import pytest

from torchspeed.data.load import load_data
from torchspeed.data.options import DataOptions
from torchspeed.data.tables import read_table
from torchspeed.errors import TorchspeedError


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_header_and_dates(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "date,a,b\n2020-01-01,1,2\n2020-01-02,3,4.5\n")
    table = read_table(path)
    assert table.values.tolist() == [[1, 2], [3, 4.5]]
    assert table.columns == ("a", "b")
    assert table.left_out == ("date",)
    assert str(table) == "2 rows of a, b; left out: date"
    assert table.index_of("b", path) == table.index_of("2", path) == 1
    assert table.index_of("all", path) is None
    for without_numbers in ("date", "0"):
        with pytest.raises(TorchspeedError, match="holds no numbers; columns of numbers are a, b"):
            table.index_of(without_numbers, path)
    with pytest.raises(TorchspeedError, match="no column '3'"):
        table.index_of("3", path)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_separators_and_decimal_commas(tmp_path: Path, separator: str) -> None:
    text = "day,a,b\n2020-01-01,1#5,-2\n2020-01-02,3,#25e1\n".replace(",", separator)
    table = read_table(write(tmp_path / "t.csv", text.replace("#", ",")))
    assert table.columns == ("a", "b")
    assert table.values.tolist() == [[1.5, -2], [3, 2.5]]


def test_gzip_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress("\ufeffa,b\r\n1,2\r\n".encode()))
    assert read_table(path).columns == ("a", "b")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b\n1,2\n3\n", "row 3: 1 columns where 2 are expected"),
        ("a,b\n1,2\n3,x\n", "row 3, column b: 'x' is not a finite number"),
        ("x,y\nu,v\n", "holds no column of numbers"),
    ],
)
def test_fault_is_named_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(TorchspeedError, match=f"t.csv.*{fault}"):
        read_table(write(tmp_path / "t.csv", text))


def test_a_quotation_mark_that_is_not_closed_is_named(tmp_path: Path) -> None:
    with pytest.raises(TorchspeedError, match="quotation mark that is not closed"):
        read_table(write(tmp_path / "t.csv", 'a,b\n"' + "1" * 200_000))


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
    with pytest.raises(TorchspeedError, match=r"no column 'cube'.*linear, square"):
        load_data(f"csv:{path}", DataOptions(target="cube"))
    with pytest.raises(TorchspeedError, match="too few for a window of 90"):
        load_data(f"csv:{path}", DataOptions(window=90))
