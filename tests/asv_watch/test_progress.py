"""What a person reads while a run goes on."""

from __future__ import annotations

import io

import pytest

from asv_watch.progress import Progress


def _ran(case: str, seconds: float, outcome: str = "ok") -> dict[str, dict[str, object]]:
    return {"ran": {"case": case, "outcome": outcome, "reason": "", "seconds": seconds}}


def test_time_left_uses_what_is_remembered_and_else_the_mean() -> None:
    stream = io.StringIO()
    progress = Progress({"known": 10.0}, stream)
    progress.hear({"plan": {"known": 2, "new": 2}})
    assert progress.seconds_left() == 20.0
    progress.hear(_ran("new", 4.0))
    assert progress.seconds_left() == 20.0 + 4.0
    progress.hear(_ran("known", 30.0))
    assert progress.seconds_left() == 30.0 + 4.0
    assert stream.getvalue().splitlines()[0] == "[1/4] new  ok, 24 s left"


def test_further_rounds_of_a_case_that_failed_are_not_waited_for() -> None:
    stream = io.StringIO()
    progress = Progress({"a": 5.0, "b": 7.0}, stream)
    progress.hear({"plan": {"a": 3, "b": 1}})
    progress.hear(_ran("a", 5.0, "failed"))
    assert progress.seconds_left() == 7.0
    assert stream.getvalue() == "[1/2] a  failed, 7 s left\n"


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_bar_passes_and_lines_of_failures_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    stream = Terminal()
    with Progress({"a": 5.0}, stream) as progress:
        progress.hear({"plan": {"a": 2, "b[red]": 1}})
        progress.hear(_ran("a", 5.0))
        assert "1/3" in stream.getvalue()
        assert "a  ok, 10 s left" in stream.getvalue()
        assert "[1/3]" not in stream.getvalue()
        progress.hear(_ran("b[red]", 5.0, "failed"))
    assert "[2/3] b[red]  failed, 5 s left\n" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K"), "the bar is removed"
