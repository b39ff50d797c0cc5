"""What a person reads while a run goes on."""

from __future__ import annotations

import io

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
