"""The one line of a failure's message that says what went wrong."""

from __future__ import annotations

import re

_EXCEPTION = re.compile(
    r"^(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*)?(?:Error|Exception|Interrupt|Exit|Warning|Failed)\b"
)
_FRAME = re.compile(r'^(?:Traceback \(most recent call last\):|  File "|\s+[\^~]+$)')
_LONGEST = 200  # characters of a line


def exception_line(message: str) -> str:
    """Find the line of the exception in what a failed case printed.

    That is the last line that starts with the name of an exception; without one the last
    line that is neither empty nor part of a traceback. The line is cut at 200 characters.
    """
    lines = [line.rstrip() for line in message.splitlines() if line.strip()]
    named = [line for line in lines if _EXCEPTION.match(line)]
    others = [line.strip() for line in lines if not _FRAME.match(line)]
    line = (named or others or [""])[-1]
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
