"""Values as people read them: a few significant digits, a unit with its prefix."""

import datetime
import math
from collections.abc import Sequence

_OPERATIONS = ("FLOP", "FLOP/s")
_LARGE = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SCALES = {
    "seconds": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
    **{unit: tuple((factor, prefix + unit) for factor, prefix in _LARGE) for unit in _OPERATIONS},
}
# Units of which more is better; any rate per second counts as well.
_HIGHER_IS_BETTER = frozenset({"accuracy", "mfu", "flops", "flop/s", "hz", "ratio of peak"})
_ROUNDS_UP = 0.9995
"""From this share of a unit on, three digits round up to it: 999.7 µs is 1.00 ms."""
_UNNAMED = {"unit", "ratio"}
_LONGEST_UNIT = 20
"""Most characters of a unit behind a value; a longer one is named only in headings."""
MINUS = "\N{MINUS SIGN}"
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


def unit_scale(unit: str) -> tuple[tuple[float, str], ...]:
    """Return the factors and prefixed names of a unit, the largest first."""
    shown = "" if unit in _UNNAMED or len(unit) > _LONGEST_UNIT else unit
    return _SCALES.get(unit) or tuple((factor, (word + shown).strip()) for factor, word in _WORDS)


def quantity(value: float, unit: str) -> str:
    """Write a value in its unit: ``5.62 ms``, ``954 MiB``, ``1.25 billion calls``."""
    scale = unit_scale(unit)
    size = abs(value) or 1.0
    factor, name = next((step for step in scale if size >= step[0] * _ROUNDS_UP), scale[-1])
    return f"{digits(value / factor)} {name}".strip()


def moved(before: float, after: float, unit: str) -> str:
    """Write two values of one unit: ``12.1 → 14.0 ms``, ``980 µs → 1.20 ms``, ``0 → 5.48 ms``."""
    number, _, name = quantity(before, unit).partition(" ")
    written = quantity(after, unit)
    if not before or (after and written.partition(" ")[2] == name):
        return f"{number} → {written}"
    return f"{number} {name} → {written if after else 0}"


def change(ratio: float | None, kind: str = "time") -> str:
    """Return a ratio after / before as a change: ``+2.8 %``, or ``2.1 times as long``.

    Changes below a factor of two are in per cent, larger ones are the factor. Without a ratio
    (a count from or to zero) it is only ``changed``. A ``kind`` that is not ``time`` is an amount.
    """
    if ratio is None or not 0 < ratio < math.inf:
        return "changed"
    if 0.5 < ratio < 2:
        return f"{_signed_percent(ratio)} %"
    return f"{digits(ratio, 2)} times as {'long' if kind == 'time' else 'much'}"


def cell(ratio: float) -> str:
    """Return a change for a narrow cell, in per cent: ``+12``, or ``2.1×``."""
    return _signed_percent(ratio, 0) if 0.5 < ratio < 2 else f"{digits(ratio, 2)}×"


def difference(ratio: float) -> str:
    """Return how much longer or less time something takes: ``14 % longer``."""
    if not 0.5 < ratio < 2:
        return change(ratio)
    return f"{share(abs(ratio - 1))} {'longer' if ratio > 1 else 'less time'}"


def about(ratio: float | None, kind: str = "time") -> str:
    """Return a ratio from separate runs as a change: ``about +3 %``."""
    if ratio is None or not 0.5 < ratio < 2:
        return f"about {change(ratio, kind)}"
    return f"about {_signed_percent(ratio, 0)} %"


def interval(ends: tuple[float, float], clock: str = "") -> str:
    """Return the ends of a ratio's interval, always per cent: ``+1.2 to +3.4 %``.

    A ratio by another clock than the case's own names it: ``+1.2 to +3.4 %, CPU time``.
    """
    named = ", CPU time" if clock == "process" else ""
    return f"{' to '.join(map(_signed_percent, ends))} %{named}"


def share(value: float) -> str:
    """Write a share per cent, with two significant digits: ``1.5 %``."""
    return f"{digits(value * 100, 2)} %"


def _signed_percent(ratio: float, decimals: int = 1) -> str:
    text = f"{(ratio - 1) * 100:+.{decimals}f}".replace("-", MINUS)
    return text if text.strip(f"+{MINUS}0.") else f"±{text[1:]}"


def counted(count: int, noun: str) -> str:
    """Write a number of things: ``1 case``, ``1,365 cases``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """Join parts of a sentence: ``a``, ``a and b``, ``a, b and c``."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def days(showing: int, compared: int) -> str:
    """Say how many days show a difference by themselves: ``1 of 2 days``, or ``one day``.

    Other versions may be involved in the days that show it. On the days ``compared``, exactly the
    two versions were compared.
    """
    count = max(showing, compared)
    if not showing:
        return "no day by itself"
    return "one day" if count == 1 else f"{showing} of {count} days"


def day(seconds: int) -> str:
    """Write the day (UTC) of a moment in seconds since the epoch."""
    return timestamp(seconds, "%Y-%m-%d")


def timestamp(seconds: int, pattern: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    """Write seconds since the epoch as date and time (UTC), by `strftime`'s pattern."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime(pattern)


def more_is_better(unit: str) -> bool:
    """Tell from a unit whether more of it is better: rates and shares of a peak are."""
    unit = unit.strip().lower()
    return unit in _HIGHER_IS_BETTER or unit.endswith(("/s", "/second", " per second"))
