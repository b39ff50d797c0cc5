"""Values as people read them: a few significant digits, a unit with its prefix."""

from __future__ import annotations

import datetime
import math

_OPERATIONS = ("FLOP", "FLOP/s")
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SCALES = {
    "seconds": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
    **{unit: tuple((factor, prefix + unit) for factor, prefix in _LARGE) for unit in _OPERATIONS},
}
_WORDS = ((1e12, "trillion "), (1e9, "billion "), (1.0, ""))


def digits(value: float, significant: int = 3) -> str:
    """Write a number with so many significant digits, with commas between thousands.

    From 1e15 on and below 1e-6 it has an exponent.
    """
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-6:
        return f"{value:.{significant - 1}e}"
    decimals = significant - 1 - math.floor(math.log10(size))
    return f"{round(value, max(decimals, 0)):,.{max(decimals, 0)}f}"


def quantity(value: float, unit: str) -> str:
    """Write a value in its unit: ``5.62 ms``, ``954 MiB``, ``1.25 billion calls``."""
    scale = _SCALES.get(unit) or tuple((factor, word + unit) for factor, word in _WORDS)
    size = abs(value) or 1.0
    factor, name = next((step for step in scale if size >= step[0]), scale[-1])
    return f"{digits(value / factor)} {name}".strip()


def change(ratio: float | None) -> str:
    """Return a ratio new / old as a signed change: ``+2.8%``, or ``2.10×`` beyond doubling.

    Without a ratio (from or to nothing, or a change of sign) it is only ``changed``.
    """
    if ratio is None:
        return "changed"
    if ratio >= 2.0 or ratio <= 0.5:
        return f"{digits(ratio)}×"
    percent = (ratio - 1.0) * 100.0
    text = f"{percent:+.1f}".replace("-", "\N{MINUS SIGN}")
    if text in {"+0.0", "\N{MINUS SIGN}0.0"}:
        text = "±0.0"
    return f"{text}%"


def timestamp(seconds: int, pattern: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    """Write seconds since the epoch as date and time (UTC), by `strftime`'s pattern."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime(pattern)
