"""The tables of cases that commands print, and comments show."""

import re


def rows_of(printed: str) -> dict[str, list[str]]:
    """The cells of each case, after that of its name."""
    rows = re.findall(r"^\| `(.+?)` *\|(.*)\|$", printed, re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in rows}


def verdicts_of(printed: str) -> dict[str, str]:
    """The last cell of each case."""
    return {name: cells[-1] for name, cells in rows_of(printed).items()}


def ratio_of(change: str) -> float:
    """The ratio that a cell shows as a change, such as ``+84.3 %``."""
    factor, _, as_factor = change.partition(" times as ")
    if as_factor:
        return float(factor)
    return 1 + float(change.strip(" %±").replace("\N{MINUS SIGN}", "-")) / 100
