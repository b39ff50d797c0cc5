"""Text from outside on its way to a terminal: it can neither move the cursor nor hide itself.

Names, reasons and messages come from benchmarks, results and configurations of other people. An
escape sequence among them could rewrite what a terminal shows, or type into it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but tabs and line breaks
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # no width, or another direction
    "\ud800-\udfff]"  # half a character, which cannot be encoded
)


def printable(text: str) -> str:
    r"""Return a text with its invisible characters written out, such as ``\x1b``."""
    return _INVISIBLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class _PrintableStream:
    """A text stream to which everything is written as `printable` gives it."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        self.unfiltered.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


@contextmanager
def printable_output() -> Iterator[None]:
    """Write out invisible characters in all that the body prints."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", _PrintableStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def unfiltered_output() -> TextIO:
    """Return standard output as it is outside of `printable_output`, to draw on a terminal."""
    return getattr(sys.stdout, "unfiltered", sys.stdout)
