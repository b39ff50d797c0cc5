"""Text that the page's script writes."""

from __future__ import annotations

import pytest

from tests.js.node import evaluate


def test_a_csv_cell_is_never_a_formula() -> None:
    cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "a,b", 'say "x"', "two\nlines", -1.5, None]
    assert evaluate("text/export.js", "argument.map(module.csvField)", cells) == [
        "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1",
        '"a,b"', '"say ""x"""', '"two\nlines"', "-1.5", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.00562, "seconds", "5.62 ms"),
        (0.0009997, "seconds", "1.00 ms"),
        (0, "seconds", "0 s"),
        (1.05 * 2**30, "bytes", "1.05 GiB"),
        (233180, "samples/s", "233 180 samples/s"),
        (2.5e9, "FLOP", "2.50 GFLOP"),
        (0.123, "ratio", "0.123"),
        (None, "seconds", "–"),
    ],
)
def test_values_are_written_with_three_digits_and_their_unit(
    value: float | None, unit: str, text: str
) -> None:
    shown = evaluate("text/format.js", "module.formatValue(...argument)", [value, unit])
    assert shown.replace("\u202f", " ").replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.5, "+50.0%"), (0.5, "\u221250.0%"), (2.5, "+150%"), (12, "12.0×"), (1.0000001, "±0.0%")],
)
def test_a_change_is_a_signed_percentage_or_a_factor(ratio: float, text: str) -> None:
    assert evaluate("text/format.js", "module.formatChange(argument)", ratio) == text


def test_addresses_keep_what_they_are_given() -> None:
    address = "module.addressOf('timeline', argument)"
    params = {"s": ["a.b('x', 5)", "%", "c&d=e"], "constructor": ["1"]}
    state = evaluate("address.js", f"module.parseAddress({address})", params)
    assert state == {"view": "timeline", "params": params}
