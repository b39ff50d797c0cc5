"""Figures as people read them: a few significant digits, a unit with its prefix."""

from __future__ import annotations

import math

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))


def digits(value: float, significant: int = 3) -> str:
    """Decimal notation with so many significant digits, thousands apart, no exponent."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-6:
        return f"{value:.{significant - 1}e}"
    decimals = significant - 1 - math.floor(math.log10(size))
    rounded = round(value, decimals)
    text = f"{rounded:,.{max(decimals, 0)}f}"
    if decimals < 0:
        text = f"{round(value):,}"
    return text


def quantity(value: float, unit: str) -> str:
    """A figure in its unit: ``5.62 ms``, ``954 MiB``, ``11,689,512 parameters``."""
    if unit == "seconds":
        for factor, name in _TIMES:
            if abs(value) >= factor:
                return f"{digits(value / factor)} {name}"
        return "0 s" if value == 0 else f"{digits(value / 1e-9)} ns"
    if unit == "bytes":
        for factor, name in _BYTES:
            if abs(value) >= factor:
                return f"{digits(value / factor)} {name}"
        return f"{digits(value)} B"
    return f"{digits(value)} {unit}".strip()


def change(ratio: float | None) -> str:
    """A ratio new / old as a signed change: ``+2.8%``, or ``2.10×`` beyond doubling.

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


def spread(value: float, interval: tuple[float, float] | None) -> str:
    """Half the width of an interval relative to its figure: ``±1.2%``; empty without one."""
    if interval is None or value == 0 or not all(map(math.isfinite, interval)):
        return ""
    half = (interval[1] - interval[0]) / 2 / abs(value) * 100
    return f"±{digits(half, 2)}%"
