"""The line of a message that names the failure."""

from __future__ import annotations

import pytest

from asv_watch.site.names import exception_line

ASV = """For parameters: 'b'
Traceback (most recent call last):
  File "/env/lib/python3.11/site-packages/asv_runner/server.py", line 179, in _run_server
    _run(run_args)
  File "/benchmarks/time_series.py", line 12, in setup
    raise RuntimeError("the input has 3 features,\\nthe model 4")
RuntimeError: the input has 3 features,
the model 4
asv: benchmark failed (exit status 1)
"""


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (ASV, "RuntimeError: the input has 3 features,"),
        ('Traceback (most recent call last):\n  File "a", line 1\nKeyError\n', "KeyError"),
        ("ValueError: one\n\nDuring handling of it:\nTypeError: two", "TypeError: two"),
        ("stopped after 600 s", "stopped after 600 s"),
        ("", ""),
        ("ValueError: " + "x" * 999, "ValueError: " + "x" * 187 + "…"),
    ],
)
def test_the_exception_is_found(message: str, line: str) -> None:
    assert exception_line(message) == line
