from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from torchspeed.data.load import load_data
from torchspeed.data.loader import Batches
from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError

CLASSES = ("n01440764", "n01443537")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for split in ("train", "val"):
        for name in CLASSES:
            folder = tmp_path / split / name
            folder.mkdir(parents=True)
            for number in range(3):
                pixels = rng.integers(0, 256, (60, 80, 3), dtype=np.uint8)
                Image.fromarray(pixels).save(folder / f"{number}.JPEG")
    return tmp_path


def test_folder_of_pictures(pictures: Path) -> None:
    data: Any = load_data("imagenet", DataOptions(data_dir=pictures, shape=(3, 32, 32)))
    assert (len(data.train), len(data.test), data.classes) == (6, 6, 2)
    image, label = data.train[5]
    assert image.shape == (3, 32, 32)
    assert label == 1


def test_missing_split_is_named(pictures: Path) -> None:
    (pictures / "val").rename(pictures / "validation")
    with pytest.raises(TorchspeedError, match=r"no folder .*val; .*--data-dir"):
        load_data("imagenet", DataOptions(data_dir=pictures))


def test_splits_with_other_classes_are_refused(pictures: Path) -> None:
    (pictures / "val" / CLASSES[1]).rename(pictures / "val" / "n99999999")
    with pytest.raises(TorchspeedError, match="need the same folders"):
        load_data("imagenet", DataOptions(data_dir=pictures))


@pytest.mark.parametrize("workers", [0, 1])
def test_damaged_picture_is_named_from_any_process(pictures: Path, workers: int) -> None:
    damaged = pictures / "train" / CLASSES[0] / "1.JPEG"
    damaged.write_bytes(damaged.read_bytes()[:200])
    data: Any = load_data("imagenet", DataOptions(data_dir=pictures))
    batches = Batches(data.train, 2, workers=workers, shuffle=False)
    with pytest.raises(TorchspeedError, match=r"1\.JPEG is damaged") as caught:
        list(batches.epoch(0))
    assert "\n" not in str(caught.value)
