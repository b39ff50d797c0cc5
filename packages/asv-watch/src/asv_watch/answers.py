"""The answers of commands: their words, and one schema of JSON, for a file or standard output.

``docs/answers.md`` describes it. New fields may be added; no field is removed or redefined without
a new `SCHEMA`.
"""

import json
import math
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from asv_watch.comparison import Clock, Ratio, metric_of
from asv_watch.files import write_output
from asv_watch.statistics.rule import Verdict
from asv_watch.text import quantities

SCHEMA = 1

UNKNOWN = "too noisy to tell"
UNMEASURED = "not measured"
UNCERTAIN = "not yet certain"
_WORDS_OF_TIMES = {Verdict.WORSE: "slower", Verdict.BETTER: "faster"}

JsonFile = Annotated[
    str,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the answer to this file too, as JSON; - prints it to standard output, and "
        "everything else to standard error.",
    ),
]


class Difference(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One compared case, or one measured change of a history."""

    case: str
    """asv's name of the case: ``suite.Class.time_x('darnn', 'cpu')``."""
    verdict: str
    """slower or faster for a time, worse or better for anything else; same, "too noisy to tell",
    "not yet certain" (time was over after few rounds) or "not measured"."""
    measured: bool = True
    """Whether both sides were measured interleaved; otherwise the difference is a suspicion."""
    unit: str = ""
    """Unit of the values: ``seconds``, ``bytes``, or that of a ``track_*``."""
    before: float | None = None
    """Value of the side before, in `unit`; ``None`` if it has none."""
    after: float | None = None
    """Value of the side after, in `unit`; ``None`` if it has none."""
    ratio: float | None = None
    """After over before."""
    interval: tuple[float, float] | None = None
    """99 % confidence interval of the ratio."""
    clock: Clock = ""
    """``process`` if `ratio` is of CPU time instead of wall time, asv's default clock."""
    rounds: int = 0
    """Interleaved rounds of both sides; 0 if they were measured in separate runs."""
    worse: bool = False
    """Whether the verdict is bad news: slower, larger, or smaller where more is better."""
    machine: str = ""
    against: str = ""
    """The case of the side after, if it is another one than `case`."""
    sides: list[str] = []
    """The two sides, if more than two were compared."""
    commits: list[str] = []
    """Full hashes of the commits that may have made the change, the oldest first."""
    expected: str = ""
    """Text of the note in ``results/notes.toml`` that calls the change expected."""
    reason: str = ""
    """Why there is no ratio, or what explains it."""

    @property
    def differs(self) -> bool:
        """Whether the verdict names a difference."""
        return self.verdict not in {"same", UNKNOWN, UNCERTAIN, UNMEASURED}

    @property
    def values(self) -> tuple[str, str]:
        """Both values as tables show them."""
        sides = self.before, self.after
        before, after = ("" if s is None else quantities.quantity(s, self.unit) for s in sides)
        return before, after

    @property
    def change(self) -> str:
        """The change as tables show it: ``+5.2 %``; empty if there is none."""
        if self.ratio is None:
            return "changed" if self.differs else ""
        return quantities.change(self.ratio, metric_of(self.unit))

    @property
    def ends(self) -> str:
        """The interval as tables show it; empty if there is none."""
        return "" if self.interval is None else quantities.interval(self.interval, self.clock)


class Answer(msgspec.Struct):
    """The answer of one command."""

    command: str
    """``compare``, ``gate``, ``bisect``, ``report`` or ``releases``."""
    before: str = ""
    """The baseline, as the command names it; empty if each difference has its own."""
    after: str = ""
    differences: list[Difference] = []
    schema: int = SCHEMA
    outcome: Literal["passed", "failed", "undecided"] | msgspec.UnsetType = msgspec.UNSET
    """Whether the gate lets a pull request be merged; other commands have none."""


def word_of(answer: Verdict, kind: str) -> str:
    """Return a verdict in words: ``slower`` for a time, ``worse`` for anything else."""
    return _WORDS_OF_TIMES.get(answer, answer.value) if kind == "time" else answer.value


def measured_difference(ratio: Ratio, machine: str = "") -> Difference:
    """Return a measured ratio as a difference; of exact values it has no interval."""
    word = UNKNOWN if ratio.is_too_noisy else word_of(ratio.verdict, ratio.metric)
    return Difference(
        case=ratio.case,
        verdict=word,
        unit=ratio.unit,
        before=ratio.before,
        after=ratio.after,
        ratio=ratio.ratio if 0 < ratio.ratio < math.inf else None,
        interval=None if ratio.exact else ratio.interval,
        clock=ratio.clock,
        rounds=0 if ratio.exact else ratio.rounds,
        worse=ratio.verdict is Verdict.WORSE,
        machine=machine,
    )


def write_answer(answer: Answer, file: str) -> None:
    """Write an answer to a file, or to standard output for ``-``; nothing if no file is named."""
    if not file:
        return
    # `json` writes ASCII alone, which standard output can encode whatever its encoding is.
    content = json.dumps(json.loads(msgspec.json.encode(answer)), indent=2) + "\n"
    if file == "-":
        # What else the command prints goes to standard error meanwhile.
        print(content, end="", file=sys.__stdout__, flush=True)
    else:
        write_output(Path(file), content.encode())
