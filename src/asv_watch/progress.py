"""How far a run is, and how long it still takes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Self, TextIO

from rich import progress
from rich.console import Console

from asv_watch.terminal import printable, unfiltered_output


def human_time(seconds: float) -> str:
    """Write a duration as a person says it: ``40 s``, ``3 min 20 s``, ``1 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class _Output(Console):
    """A console that raises `BrokenPipeError` where its reader has gone, instead of exiting."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - rich calls this while it handles the error


class Display(AbstractContextManager["Display"]):
    """Shows how far a measurement is: a bar on a terminal, elsewhere a line a step."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Show nothing yet; ``stream`` is standard output by default."""
        self._console = _Output(
            file=stream or unfiltered_output(),
            soft_wrap=True,
            markup=False,
            emoji=False,
            highlight=False,
        )
        self._bar = progress.Progress(
            progress.BarColumn(bar_width=20),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.description}", markup=False),
            console=self._console,
            auto_refresh=False,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def step(self, text: str, *, done: int, total: int, is_notable: bool = False) -> None:
        """Show a step.

        Args:
            text: what was measured, and how long the rest takes.
            done: steps so far.
            total: steps in all, as far as that is known.
            is_notable: whether it stays on the terminal, as a failure does.
        """
        text = printable(text)
        if is_notable or not self._console.is_terminal:
            self.say(text)
        self._bar.update(self._task, total=total, completed=done, description=text, refresh=True)

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        self._console.print(printable(line))


class Progress(Display):
    """Shows how far a run is: a bar on a terminal, elsewhere a line a case; with the time left."""

    def __init__(self, remembered: Mapping[str, float], stream: TextIO | None = None) -> None:
        """Begin.

        Args:
            remembered: seconds a round of each case.
            stream: where to print; standard output by default.
        """
        self._expected = dict(remembered)
        self._left: dict[str, int] = {}
        self._total = 0
        self._done = 0
        self._ran = 0
        self._took = 0.0
        super().__init__(stream)
        self.outcomes: dict[str, tuple[str, str]] = {}
        """Case to its outcome and reason, of this run."""

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take one message of the running asv: its plan, or a case that ran."""
        if "plan" in message:
            self._done = 0
            self._left = dict(message["plan"])
            self._total = sum(self._left.values())
            return
        ran = message["ran"]
        case, outcome = ran["case"], ran["outcome"]
        self.outcomes[case] = (outcome, ran["reason"])
        if case not in self._left:
            return  # skipped without a process, which takes no time
        self._left[case] -= 1
        if outcome != "ok":  # further rounds of it are not tried
            self._total -= self._left[case]
            self._left[case] = 0
        self._done += 1
        self._ran += 1
        self._took += ran["seconds"]
        self._expected[case] = ran["seconds"]
        text = f"{case}  {outcome}, {human_time(self.seconds_left())} left"
        self.step(
            f"[{self._done:{len(str(self._total))}}/{self._total}] {text}",
            done=self._done,
            total=self._total,
            is_notable=outcome != "ok",
        )

    def seconds_left(self) -> float:
        """Expected time of all that is still to run: remembered, or else the mean so far."""
        mean = self._took / self._ran if self._ran else 0.0
        return sum(rounds * self._expected.get(case, mean) for case, rounds in self._left.items())
