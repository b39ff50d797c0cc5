"""Where commands print their tables."""

from __future__ import annotations

import os
import sys

from rich.console import Console

_WIDTH_OF_FILES = 160


def standard_output() -> Console:
    """Return a console as wide as the terminal; a file or a pipe has room for every table."""
    as_wide_as_it_is = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if as_wide_as_it_is else _WIDTH_OF_FILES)
