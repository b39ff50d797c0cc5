"""Joins the parts of the page's style into one file, so that the first paint waits for one."""

from __future__ import annotations

import re
from pathlib import Path

# In the order of the cascade: what a later part says of the same element wins.
_PARTS = ("colours", "page", "head", "fields", "tables", "charts", "screens")
_COMMENT_OR_INDENT = re.compile(r"/\*.*?\*/\n?|^ +|^\n", re.MULTILINE | re.DOTALL)


def stylesheet(folder: Path) -> str:
    """Return the parts in `folder` as one stylesheet, without comments and indentation."""
    parts = [(folder / f"{name}.css").read_text(encoding="utf-8") for name in _PARTS]
    return _COMMENT_OR_INDENT.sub("", "".join(parts))
