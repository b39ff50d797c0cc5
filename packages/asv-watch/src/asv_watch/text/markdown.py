"""Writes Markdown: aligned tables, and untrusted text as inline code."""

from collections.abc import Sequence

_LONGEST_TEXT = 300
"""Most characters of a text that are shown."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table whose columns line up."""
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
