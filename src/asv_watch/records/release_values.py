"""What cases that time nothing measured with torch releases: peak memory and exact counts.

``results/<machine>/release_values.jsonl`` holds a line for each release, commit and case, the
newest last. Times are in the comparisons of kind ``release``, because they need interleaving.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from asv_watch.records.comparisons import Hash, Time
from asv_watch.records.json_lines import read_lines
from asv_watch.records.records import Problem

FILE_NAME = "release_values.jsonl"


class ReleaseValue(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A case with one torch release; or why it has no value there."""

    torch: str
    torchvision: str
    commit: Hash
    """Of this package, full."""
    case: str
    """As asv names it: ``suite.Class.peakmem_x('darnn', 'cpu')``."""
    at: Time
    """When it was measured, seconds since the epoch."""
    unit: str = ""
    exact: bool = False
    """Whether every process gives the same value, so that any difference counts."""
    value: Annotated[float, msgspec.Meta(ge=0)] | None = None
    """In ``unit``; ``None`` where it was skipped or failed."""
    skipped: str = ""
    failed: str = ""
    format: Literal[1] = 1

    def __post_init__(self) -> None:
        """Refuse a line with neither a value nor a reason, or with both.

        Raises:
            ValueError: not exactly one of them is given.
        """
        if [self.value is not None, bool(self.skipped), bool(self.failed)].count(True) != 1:
            raise ValueError("a case has a value, or was skipped, or failed")


_decode = msgspec.json.Decoder(ReleaseValue).decode


def read_release_values(path: Path) -> tuple[tuple[ReleaseValue, ...], tuple[Problem, ...]]:
    """Read a machine's file.

    Returns:
        The newest line of each release, commit and case, oldest first; and a problem for each
        line that is damaged.
    """
    if not path.exists():
        return (), ()
    lines, problems = read_lines(path, _decode, "value of a release")
    newest = {(value.torch, value.commit, value.case): value for _, value in lines}
    return tuple(newest.values()), tuple(problems)
