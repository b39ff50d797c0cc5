"""Figures as people read them."""

import pytest

from asv_watch.text.quantities import about, change, interval, quantity


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00562, "seconds", "5.62 ms"),
        (4.41e-4, "seconds", "441 µs"),
        (3.2e-8, "seconds", "32.0 ns"),
        (0.0, "seconds", "0 s"),
        (1000330000, "bytes", "954 MiB"),
        (11689512, "parameters", "11,689,512 parameters"),
        (1.23e12, "FLOP/s", "1.23 TFLOP/s"),
        (1_254_000_000, "instructions", "1.25 billion instructions"),
        (0.5, "", "0.500"),
        (2_709_263, "simulated seconds for a million particles", "2,709,263"),
    ],
)
def test_a_few_digits_and_a_prefix(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (change(1.028), "+2.8 %"),
        (change(0.901), "−9.9 %"),
        (change(2.1), "2.1 times as long"),
        (change(2.1, "memory"), "2.1 times as much"),
        (change(0.389), "0.39 times as long"),
        (change(None), "changed"),
        (interval((0.382, 0.396)), "−61.8 to −60.4 %"),
        (about(1.283), "about +28 %"),
    ],
)
def test_changes_are_signed_per_cent_below_a_factor_of_two(written: str, text: str) -> None:
    assert written == text
