"""Data with nothing to download: real ones with the packages of the ``train`` extra, and random.

``digits`` is the test set of UCI's Optical Recognition of Handwritten Digits (Alpaydin and Kaynak,
1998), 8x8 grey, with scikit-learn. ``el_nino`` follows the seasons, and its anomalies persist for
months: hardly anything beats a linear map of them. ``eeg`` is hard: ten seconds of brain waves.
``lorenz`` is computed, not measured. It has no noise and is not linear, so it shows whether a
model learns.
"""

from dataclasses import dataclass, replace
from importlib import resources

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate
from torch.utils.data import Dataset

from torchspeed.data.dataset import Data
from torchspeed.data.options import DataOptions
from torchspeed.data.series import split_series

TRAIN_ITEMS = 1437
"""The first four fifths, as in scikit-learn's examples, so that few writers are in both parts."""

EEG_ELECTRODES = ("pg3", "pg5", "pg7", "pg9")


@dataclass(frozen=True)
class ResizedDigits(Dataset[tuple[Tensor, int]]):
    """Grey 8x8 images in [0, 1], resized and repeated over channels when read."""

    images: Tensor
    """(items, 1, 8, 8)"""
    labels: list[int]
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        channels, height, width = self.shape
        image = self.images[index : index + 1]  # (1, 1, 8, 8)
        if (height, width) != (8, 8):
            image = interpolate(image, (height, width), mode="bilinear", align_corners=False)
        return image[0].expand(channels, -1, -1), self.labels[index]


def load_digits(options: DataOptions) -> Data:
    """Return the digits at ``options.shape`` (channels, height, width); (1, 8, 8) by default."""
    from sklearn import datasets  # noqa: PLC0415 - optional

    bunch = datasets.load_digits()
    images = torch.from_numpy(bunch.images).to(torch.float32).div(16).unsqueeze(1)
    labels = [int(label) for label in bunch.target]
    shape = options.shape or (1, 8, 8)
    return Data(
        name="digits",
        train=ResizedDigits(images[:TRAIN_ITEMS], labels[:TRAIN_ITEMS], shape),
        test=ResizedDigits(images[TRAIN_ITEMS:], labels[TRAIN_ITEMS:], shape),
        item_shape=shape,
        classes=10,
        source="1,797 handwritten digits, 8x8 (UCI optical digits, with scikit-learn)",
    )


def load_el_nino(options: DataOptions) -> Data:
    """Return windows of 732 monthly sea temperatures; anomalies unless ``anomalies`` is False."""
    file = resources.files("statsmodels") / "datasets/elnino/elnino.csv"
    # The year, and a column for each month.
    years = np.loadtxt(str(file), delimiter=",", skiprows=1)
    values = years[:, 1:].reshape(-1, 1)
    source = (
        "sea surface temperature off Peru, °C, 732 months from 1950 to 2010 (NOAA's ERSST.V3B, "
        "region Nino 1+2, public domain, with statsmodels)"
    )
    options = replace(options, anomalies=options.anomalies is not False)
    return split_series("el_nino", values, ("temperature",), options, source, season=12)


def load_eeg(options: DataOptions) -> Data:
    """Return windows of 800 samples of the potential at four electrodes."""
    file = resources.files("matplotlib") / "mpl-data/sample_data/eeg.dat"
    values = np.fromfile(str(file), dtype=np.float64).reshape(-1, len(EEG_ELECTRODES))
    source = "brain waves at 4 electrodes, 80 samples a second (matplotlib sample data)"
    return split_series("eeg", values, EEG_ELECTRODES, options, source)


LORENZ_ROWS, LORENZ_STEPS, LORENZ_STEP = 1000, 10, 0.01
"""Rows of ``lorenz``, steps of integration from one row to the next, and the time of a step."""


def load_lorenz(options: DataOptions) -> Data:
    """Return windows of 1,000 states of Lorenz's equations (1963), by Runge and Kutta's method."""

    def slope(state: NDArray[np.float64]) -> NDArray[np.float64]:
        x, y, z = state
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    state, step, states = np.ones(3), LORENZ_STEP, []
    for _ in range(LORENZ_ROWS * LORENZ_STEPS):
        first = slope(state)
        second = slope(state + step / 2 * first)
        third = slope(state + step / 2 * second)
        fourth = slope(state + step * third)
        state = state + step / 6 * (first + 2 * second + 2 * third + fourth)
        states.append(state)
    values = states[LORENZ_STEPS - 1 :: LORENZ_STEPS]
    source = "states of Lorenz's equations (Deterministic Nonperiodic Flow, 1963), every 0.1"
    return split_series("lorenz", values, ("x", "y", "z"), options, source)


@dataclass(frozen=True)
class DummyItems(Dataset[tuple[Tensor, Tensor | int]]):
    """Normally distributed inputs, each drawn anew when read, the same for the same index.

    Rank-3 shapes are images with a class; rank-2 shapes are windows with values to forecast.
    Drawing is the cost of loading, as in torchvision's ``FakeData``.
    """

    items: int
    options: DataOptions
    shape: tuple[int, ...]
    seed: int

    def __len__(self) -> int:
        return self.items

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor | int]:
        if not 0 <= index < self.items:
            raise IndexError(index)
        generator = torch.Generator().manual_seed(self.seed + index)
        item, options = torch.randn(self.shape, generator=generator), self.options
        if len(self.shape) > 2:
            return item, int(torch.randint(options.classes, (), generator=generator))
        columns = self.shape[-1] if options.target == "all" else 1
        forecast = (options.horizon, columns) if options.every_step else (columns,)
        return item, torch.randn(forecast, generator=generator)


def load_dummy(options: DataOptions) -> Data:
    """Return ``options.items`` items of ``options.shape``, (3, 224, 224) by default."""
    shape = options.shape or (3, 224, 224)
    items = options.items or 1000
    is_image = len(shape) == 3
    target = None if is_image or options.target == "all" else 0
    # Test items follow the training ones, so that no seed is drawn twice.
    return Data(
        name="dummy",
        train=DummyItems(items, options, shape, options.seed),
        test=DummyItems(max(1, items // 5), options, shape, options.seed + items),
        item_shape=shape,
        classes=options.classes if is_image else None,
        source="random numbers",
        target=target,
    )
