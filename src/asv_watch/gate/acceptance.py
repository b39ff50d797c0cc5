"""The entry of ``results/notes.toml`` that tells nights and the page of an accepted slowdown.

The label accepts a pull request; only a note outlives it. The comment contains the entry to paste:
who accepted it, why, for which cases and, once the pull request is merged, at which commit.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Sequence

from asv_watch.gate.result import GateCase
from asv_watch.versions.commits import is_full_hash

_MOST_CASES = 50
"""More cases make the comment too long."""


def note_entry(
    cases: Sequence[GateCase], *, reason: str, by: str, pull_request: int, merged_as: str
) -> str:
    """Write Markdown that explains how to keep an acceptance, with the entry to paste.

    Args:
        cases: The slower cases that were accepted.
        reason: Why, as the description of the pull request says.
        by: Login of the person who set the label, or empty.
        pull_request: Its number.
        merged_as: Commit of the branch that the pull request became; empty before the merge.
    """
    if len(cases) > _MOST_CASES:
        return (
            f"After the merge, write `expected` into `results/notes.toml` for these {len(cases)} "
            "cases, or nights go on reporting them."
        )
    is_merged = is_full_hash(merged_as)
    commit = merged_as if is_merged else "HASH of the commit on the branch"
    entry = {
        "commit": _text(commit),
        "kind": _text("expected"),
        "text": _text(f"{reason} (pull request {pull_request})"),
        "by": _text(by),
        "cases": f"[{', '.join(_text(glob.escape(case.case)) for case in cases)}]",
    }
    lines = [f"{key} = {value}" for key, value in entry.items() if value != '""']
    when = "Merged." if is_merged else "After the merge this entry gets its commit."
    return "\n".join(
        [
            f"<details><summary>{when} Paste it into results/notes.toml, or nights go on "
            "reporting the slowdown</summary>",
            "",
            "```toml",
            "[[change]]",
            *lines,
            "```",
            "",
            "</details>",
        ]
    )


def _text(text: str) -> str:
    """Write a TOML string; unprintable characters are replaced, as anybody may have sent them."""
    visible = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    return json.dumps(visible, ensure_ascii=False)
