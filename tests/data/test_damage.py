"""Data files damaged at random: they are read, or one error names the file; no traceback, no hang.

``FUZZ_EXAMPLES=5000 python -m pytest tests/data/test_damage.py`` tries more than the suite does.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.asv_watch.fuzz.damage import damaged, fuzz, no_hang
from tests.data.test_images import write_cifar10, write_mnist, write_pictures
from torchspeed.data.load import load_data
from torchspeed.data.options import DataOptions
from torchspeed.data.tables import read_table
from torchspeed.errors import TorchspeedError


def read_all(name: str, folder: Path) -> None:
    """Read every item of a data set, as training does."""
    options = DataOptions(data_dir=folder)
    if name == "imagenet":
        options = replace(options, shape=(3, 16, 16))
    data: Any = load_data(name, options)
    for split in (data.train, data.test):
        for at in range(len(split)):
            image, _ = split[at]
            assert torch.isfinite(image).all()


def damage_one(data: Any, folder: Path) -> None:
    """Damage one file; of a gzipped one sometimes the content, so that it still unpacks."""
    path = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
    content = path.read_bytes()
    if path.suffix == ".gz" and data.draw(st.booleans()):
        content = gzip.compress(data.draw(damaged(gzip.decompress(content))))
    else:
        content = data.draw(damaged(content))
    path.write_bytes(content)


def try_damage(data: Any, folder: Path, read: Callable[[], None]) -> None:
    """Damage one file of a sound data set, read it, and delete the data set."""
    damage_one(data, folder)
    try:
        with no_hang(), contextlib.redirect_stderr(io.StringIO()):
            read()
    except TorchspeedError as error:
        assert "\n" not in str(error)  # noqa: PT017 - whatever it is
        assert str(folder) in str(error)  # noqa: PT017
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["mnist", "cifar10", "imagenet"])
@fuzz
@given(data=st.data())
@pytest.mark.fault(
    "random damage",
    tried="a file of MNIST, CIFAR-10, or a folder of pictures, packed or not",
    holds="no traceback, no hang, no value that is not finite",
)
def test_pictures(tmp_path_factory: pytest.TempPathFactory, data: Any, name: str) -> None:
    folder = tmp_path_factory.mktemp(name)
    with pytest.MonkeyPatch.context() as monkeypatch:
        if name == "mnist":
            write_mnist(folder / "MNIST" / "raw")
        elif name == "cifar10":
            write_cifar10(folder, monkeypatch)
        else:
            write_pictures(folder)
        try_damage(data, folder, lambda: read_all(name, folder))


@fuzz
@given(data=st.data(), suffix=st.sampled_from([".csv", ".csv.gz"]))
@pytest.mark.fault(
    "random damage",
    tried="a table of a time series, packed or not",
    holds="no traceback, no hang, no value that is not finite",
)
def test_tables(tmp_path_factory: pytest.TempPathFactory, data: Any, suffix: str) -> None:
    folder = tmp_path_factory.mktemp("tables")
    path = folder / f"table{suffix}"
    rows = b"".join(b"2026-11-%02d;%d,5;1e%d\n" % (day, day, day) for day in range(1, 9))
    text = b"date;load;price\n" + rows
    path.write_bytes(gzip.compress(text) if suffix == ".csv.gz" else text)

    def read() -> None:
        assert torch.isfinite(read_table(path).values).all()

    try_damage(data, folder, read)
