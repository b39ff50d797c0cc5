"""Shows how far a measurement has come, and how long it will still take."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Self, TextIO

from rich import progress
from rich.console import Console

from asv_watch.text.terminal import printable, unfiltered_output


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
    """Shows progress: as a bar on a terminal, elsewhere as one line per step."""

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
            text: the result of the step, and the remaining time.
            done: steps so far.
            total: expected number of steps.
            is_notable: whether it stays on the terminal, as a failure does.
        """
        text = printable(text)
        if is_notable or not self._console.is_terminal:
            self.say(text)
        self._bar.update(self._task, total=total, completed=done, description=text, refresh=True)

    def say(self, line: str) -> None:
        """Print a line, above the bar if there is one."""
        self._console.print(printable(line))
