"""Prints the share of each case's time that passes in functions that a diff changed.

Runs as a script in the environment that is measured, ``python -P executed.py <folder of suites>
<folder of the package>``; it needs nothing of this package. Standard input holds one object of
JSON: ``{"changed": [["package/file.py", 10, 24], ...], "cases": ["suite.time_x-0", ...],
"seconds": 10}``, with the first and last line of each changed function. Each case is called twice,
in a forked process that may take ``seconds``: the first call also imports modules. Profiling makes
the calls several times slower, so only shares are printed, a line of JSON for each case:
``{"case": "suite.time_x-0", "share": 0.8}``. The share is 0 if no changed function ran, and almost
0 if one ran only in ``setup`` or in another thread; a case that fails or takes too long has
``null``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

_SHARE_IF_ONLY_IN_SETUP = 1e-6
"""Share of a case that runs a changed function only in its setup."""
_WORTH_A_SECOND_CALL_S = 3.0
"""A first call that takes longer is not dominated by imports."""

Changed = Sequence[tuple[str, int, int]]


class _Profile:
    """Adds up the time inside changed functions, those that they call included."""

    def __init__(self, folders: Sequence[str], changed: Changed) -> None:
        self._folders, self._changed = folders, changed
        self._known: dict[CodeType, bool] = {}
        self._depth, self._began = 0, 0.0
        self.seconds = 0.0
        self.ran = False

    def is_changed(self, code: CodeType) -> bool:
        if code not in self._known:
            paths = [os.path.relpath(code.co_filename, folder) for folder in self._folders]
            self._known[code] = any(
                first <= code.co_firstlineno <= last and f"/{name}".endswith(f"/{path}")
                for name, first, last in self._changed
                for path in paths
            )
        return self._known[code]

    def in_timed_thread(self, frame: FrameType, event: str, _: object) -> None:
        """Take an event of the thread that is timed."""
        if event not in ("call", "return") or not self.is_changed(frame.f_code):
            return
        self.ran = True
        if event == "call":
            self._began = self._began if self._depth else time.perf_counter()
            self._depth += 1
        elif self._depth:
            self._depth -= 1
            self.seconds += 0.0 if self._depth else time.perf_counter() - self._began

    def in_other_thread(self, frame: FrameType, event: str, _: object) -> None:
        """Take an event of another thread."""
        if event == "call" and self.is_changed(frame.f_code):
            self.ran = True


def share(suites: str, case: str, profile: _Profile) -> float:
    """Call a case; return the share of its time that passes in changed functions."""
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    benchmark: Any = get_benchmark_from_name(suites, case, extra_params={})
    threading.setprofile(profile.in_other_thread)
    sys.setprofile(profile.in_timed_thread)
    if benchmark.setup_cache_key is not None:
        benchmark.set_cache(benchmark.do_setup_cache())
    if benchmark.do_setup():
        raise NotImplementedError
    took = _call(benchmark, profile)
    if took < _WORTH_A_SECOND_CALL_S:
        benchmark.do_teardown()
        benchmark.do_setup()
        took = _call(benchmark, profile)
    sys.setprofile(None)
    return max(min(1.0, profile.seconds / took), _SHARE_IF_ONLY_IN_SETUP * profile.ran)


def _call(benchmark: Any, profile: _Profile) -> float:
    """Call what a benchmark times; return the seconds."""
    profile.seconds, began = 0.0, time.perf_counter()
    benchmark.func(*benchmark._build_params())
    return time.perf_counter() - began


def main(suites: str, source: str) -> None:
    """Profile the cases of the request."""
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    profile = _Profile((source, os.path.dirname(suites)), request["changed"])
    for case in request["cases"]:
        with contextlib.suppress(Exception):  # the child imports the suite again, and fails
            get_benchmark_from_name(suites, case, extra_params={})
        child = os.fork()
        if child:
            if os.waitpid(child, 0)[1]:
                print(json.dumps({"case": case, "share": None}), file=answers)
            continue
        try:
            signal.alarm(request["seconds"])
            answer = {"case": case, "share": share(suites, case, profile)}
            sys.setprofile(None)
            print(json.dumps(answer), file=answers, flush=True)
            os._exit(0)
        finally:  # whatever happens, a child must not go on as its parent
            os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
