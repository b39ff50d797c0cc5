"""The outputs that pages show, without what differs from run to run."""

from __future__ import annotations

import re

_MASKS = (
    (r"\b[0-9a-f]{7,40}\b", "H"),
    (r"torch [\d.]+|virtualenv-[\w.-]+", "E"),
    (r"[\d,]*\d(\.\d+)?", "N"),
    (r"(N min )?N s left", "N left"),
    (r"N [µnm]s\b", "N s"),
    (r"[+±−-]N", "N"),
    (r"[-=]{2,}|\s+", " "),
)
"""What differs from run to run, and what stands for it."""


def shape(line: str) -> str:
    """Return a line with letters in place of its numbers, hashes and environments."""
    for pattern, letter in _MASKS:
        line = re.sub(pattern, letter, line)
    return line.strip()


def steps(page: str) -> list[tuple[str, list[str]]]:
    """Return each block of commands, with the lines that the page shows after it."""
    blocks = re.findall(r"^```(sh|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    found: list[tuple[str, list[str]]] = []
    for kind, body in blocks:
        if kind == "sh":
            found.append((body, []))
        else:
            found[-1][1].extend(line for line in body.splitlines() if line.strip(" ."))
    return found


def absent(shown: list[str], printed: str) -> list[str]:
    """Return the lines of a page that no line of an output looks like."""
    shapes = {shape(line) for line in printed.splitlines()}
    return [line for line in shown if shape(line) not in shapes]
