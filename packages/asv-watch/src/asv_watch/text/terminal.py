"""Directs what commands print, keeps text from outside from harming, and writes Markdown.

Names, reasons and messages come from benchmarks, results and configurations of other people. An
escape sequence among them could rewrite what a terminal shows, or type into it.
"""

import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from pathlib import Path
from typing import Any, TextIO, cast

from asv_watch.files import check_output

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but tabs and line breaks
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # no width, or another direction
    "\ud800-\udfff]"  # half a character, which cannot be encoded
)


def printable(text: str) -> str:
    r"""Return a text with its invisible characters written out, such as ``\x1b``."""
    return _INVISIBLE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class _PrintableStream:
    """A text stream to which everything is written as `printable` gives it."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        self.unfiltered.write(printable(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def with_output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Write out invisible characters in all that a command prints; direct it as its options say.

    With ``--json -`` all but the answer is printed to standard error. A file that cannot be
    written is refused before the command begins.
    """

    @wraps(command)
    def run(**options: Any) -> Any:
        for file in (options.get("json_file"), options.get("comment_file")):
            if file and file != "-":
                check_output(Path(file))
        output, errors = (
            cast("TextIO", _PrintableStream(stream)) for stream in (sys.stdout, sys.stderr)
        )
        others = errors if options.get("json_file") == "-" else output
        with redirect_stdout(others), redirect_stderr(errors):
            return command(**options)

    return run


_LONGEST_TEXT = 300


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns line up; `code` is for cells with text from outside."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"
        for row in (head, *rows)
    ]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]])


def code(text: str) -> str:
    """Write any text as inline code of Markdown, in a table or outside.

    GitHub interprets nothing inside: no HTML, no links, no mentions. A vertical bar, which would
    end the cell, becomes a broken one, and a backtick, which would end the code, an apostrophe;
    characters that cannot be seen are replaced; what is longer than 300 characters is cut off.
    """
    plain = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for letter in " ".join(text.split()).replace("|", "\N{BROKEN BAR}").replace("`", "'")
    )
    plain = plain if len(plain) <= _LONGEST_TEXT else f"{plain[: _LONGEST_TEXT - 1]}…"
    return f"`{plain or '?'}`"
