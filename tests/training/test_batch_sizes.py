from pathlib import Path
from typing import Any

import pytest

from torchspeed.training.batch_sizes import best_batch_sizes, doubling
from torchspeed.training.sweep import MeasuredPoint, Point, Sweep

AXES: dict[str, list[Any]] = {"workers": [0], "batch_size": [1], "rate": [0.1, 0.2]}
MIB = 1024**2


class OnADevice(Sweep):
    """A device with so much memory, fastest with batches of 64."""

    def __init__(self, file: Path, name: str, memory: float) -> None:
        super().__init__(file, ["--model=lenet5"])
        self.name = name
        self.memory = memory

    def _measure(self, point: Point) -> MeasuredPoint:
        size = int(point["batch_size"])
        needs = (100 + 10 * size) * MIB
        result = {
            "config": {"batch_size": size},
            "device_name": self.name,
            "peak_memory_bytes": needs,
            "items_per_s": 1000.0 - abs(size - 64),
        }
        fits = needs <= self.memory
        outcome = MeasuredPoint(point, result if fits else None, "" if fits else "no memory")
        self._append(outcome)
        return outcome


def sizes(outcomes: list[MeasuredPoint]) -> list[tuple[Any, Any, bool]]:
    return [(o.point["rate"], o.point["batch_size"], o.result is not None) for o in outcomes]


@pytest.mark.parametrize(
    ("device", "room", "tried"),
    [
        ("an accelerator", None, [(16, True), (32, True), (64, True), (128, False)]),
        ("an accelerator", 500 * MIB, [(16, True), (32, True)]),  # 64 need 740 MiB
        ("cpu", 745 * MIB, [(16, True), (32, True), (64, True)]),
    ],
)
def test_batches_double_until_memory_ends(
    tmp_path: Path, device: str, room: float | None, tried: list[tuple[int, bool]]
) -> None:
    runs = OnADevice(tmp_path / "sweep.jsonl", device, memory=1000 * MIB)
    outcomes = runs.run(doubling(runs, AXES, room), lambda *_: None)
    assert sizes(outcomes) == [(rate, *each) for rate in (0.1, 0.2) for each in tried]
    if room is None:
        assert best_batch_sizes(outcomes) == (
            "largest batch that fits: 64 (0.72 GiB); fastest: 64 (1,000 items/s)"
        )
    again = OnADevice(tmp_path / "sweep.jsonl", device, memory=0)  # all is known
    assert sizes(again.run(doubling(again, AXES, room), lambda *_: None)) == sizes(outcomes)
