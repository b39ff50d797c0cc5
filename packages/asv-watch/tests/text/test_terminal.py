"""Text as people read it: figures in words, and what a terminal cannot show written out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.cli.main import main
from asv_watch.text.quantities import about, change, interval, quantity
from asv_watch.text.terminal import printable
from tests.test_results import checkout, edit, measured

TIMES = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00562, "seconds", "5.62 ms"),
        (4.41e-4, "seconds", "441 µs"),
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


@given(st.floats(1e-9, 1e6))
def test_a_time_is_read_back_to_three_digits(seconds: float) -> None:
    number, prefix = quantity(seconds, "seconds").split(" ")
    read = float(number.replace(",", "")) * TIMES[prefix]
    assert abs(read - seconds) <= 0.0051 * seconds


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1.028, "+2.8 %"),
        (0.901, "−9.9 %"),
        (2.1, "2.1 times as long"),
        (0.389, "0.39 times as long"),
        (None, "changed"),
    ],
)
def test_changes_are_signed_per_cent_below_a_factor_of_two(ratio: float | None, text: str) -> None:
    assert change(ratio) == text


def test_intervals_are_always_per_cent_and_guesses_are_whole() -> None:
    assert interval((0.382, 0.396)) == "−61.8 to −60.4 %"
    assert about(1.283) == "about +28 %"
    assert change(2.1, "memory") == "2.1 times as much"


__all__ = ["checkout", "measured"]  # fixtures
HOSTILE = "\x1b[2Jgone\0\u202e\ud800"
SHOWN = r"\x1b[2Jgone\x00\u202e\ud800"


def is_harmless(text: str) -> bool:
    return text.replace("\n", "").replace("\t", "") == printable(text.replace("\n", ""))


def test_a_text_is_shown_with_what_is_invisible_written_out() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("é 漢\tα\n−1.5 %\u202f") == "é 漢\tα\n−1.5 %\u202f"


def test_no_command_prints_an_escape_sequence(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "results/m/0a-\x1b[2J.json").write_text("{")
    assert main(["results", "check"]) == 1
    printed = capsys.readouterr().out
    assert r"0a-\x1b[2J.json" in printed
    assert is_harmless(printed)
    edit(checkout / "asv.conf.json", repo="\x1b[2J")
    assert main(["releases"]) == 1
    printed = capsys.readouterr().err
    assert r"\x1b[2J" in printed
    assert is_harmless(printed)
