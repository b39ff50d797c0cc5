"""Verifications of a machine's results, in ``results/<machine>/verifications.jsonl``.

A line is one verification: a commit, drawn by chance from those that the machine has results of,
was measured there again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from torchspeed.watch.history.json_lines import read_lines
from torchspeed.watch.history.records import Problem

FILE_NAME = "verifications.jsonl"
AGREES_UP_TO = 1.25
"""Ratio of two values, the larger over the smaller, up to which they agree. Runs on a busy machine
differ by 8 %; what another machine or another program measured differs by more."""
_SHARE = 0.9
"""Of the cases, that has to agree."""

_Count = Annotated[int, msgspec.Meta(ge=0, lt=10**12)]


class Verification(msgspec.Struct, frozen=True):
    """One commit measured again."""

    at: _Count
    """Seconds since the epoch."""
    commit: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{40,64}$")]
    cases: Annotated[int, msgspec.Meta(ge=1, lt=10**9)]
    """Number of cases that have a value in both."""
    agreeing: _Count
    """How many of them agree."""
    format: Literal[1] = 1

    @property
    def passed(self) -> bool:
        """Whether enough cases agree."""
        return self.agreeing >= _SHARE * self.cases


def read_verifications(path: Path) -> tuple[tuple[Verification, ...], tuple[Problem, ...]]:
    """Read a machine's file, oldest first, and a problem for each line that is damaged."""
    lines, problems = read_lines(path, msgspec.json.Decoder(Verification).decode, "verification")
    return tuple(verification for _, verification in lines), tuple(problems)
