"""Prints the share of each case's time that passes in functions that a diff changed.

Runs as a script in the environment that is measured, ``python -P executed.py <folder of suites>
<folder of the package>``; it needs nothing of this package. Standard input holds one object of
JSON: ``{"changed": [["package/file.py", 10, 24], ...], "cases": ["suite.time_x-0", ...],
"seconds": 10, "import_seconds": 60}``, with the first and last line of each changed function. A
suite is imported once, in at most ``import_seconds``. Each of its cases is then called twice, in a
forked process that may take ``seconds``: the first call also imports modules, so the second counts
if it ends in time. Profiling makes the calls several times slower, so only shares are printed, a
line of JSON for each call: ``{"case": "suite.time_x-0", "first": 0.1}``, then ``{"case":
"suite.time_x-0", "share": 0.8}``. The share is 0 if no changed function ran, and almost 0 if one
ran only in ``setup`` or in another thread. A case that fails or takes too long, or whose suite
does, has ``{"case": "suite.time_x-0", "failed": "<reason>"}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, TextIO

_SHARE_IF_ONLY_IN_SETUP = 1e-6
"""Share of a case that runs a changed function only in its setup."""
_LONGEST_REASON = 500  # characters

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
        if event == "call" and self.is_changed(frame.f_code):
            self.ran = True


def shares(suites: str, case: str, profile: _Profile) -> Iterator[tuple[str, float]]:
    """Call a case twice; yield the share of each call's time that passes in changed functions."""
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    benchmark: Any = get_benchmark_from_name(suites, case, extra_params={})
    threading.setprofile(profile.in_other_thread)
    sys.setprofile(profile.in_timed_thread)
    if benchmark.setup_cache_key is not None:
        benchmark.set_cache(benchmark.do_setup_cache())
    if benchmark.do_setup():
        raise NotImplementedError("its setup skips it here")
    yield "first", _call(benchmark, profile)
    benchmark.do_teardown()
    benchmark.do_setup()
    yield "share", _call(benchmark, profile)


def _call(benchmark: Any, profile: _Profile) -> float:
    """Call what a benchmark times; return the share of changed functions."""
    profile.seconds, began = 0.0, time.perf_counter()
    benchmark.func(*benchmark._build_params())
    took = time.perf_counter() - began
    return max(min(1.0, profile.seconds / took), _SHARE_IF_ONLY_IN_SETUP * profile.ran)


class _TooLongError(BaseException):
    """The time is over; no ``except Exception`` of a suite hides it."""


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Interrupt the body after some seconds, without those in which this process is stopped."""
    left = seconds

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise _TooLongError

    signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _import(suites: str, case: str, seconds: int) -> str:
    """Import the suite of a case; return why that is impossible, or nothing."""
    from asv_runner.discovery import get_benchmark_from_name  # noqa: PLC0415 - of the environment

    try:
        with _limited(seconds):
            get_benchmark_from_name(suites, case, extra_params={})
    except _TooLongError:
        return f"importing its suite takes more than {seconds} s"
    except BaseException as error:  # whatever a suite raises, such as SystemExit
        return f"its suite cannot be imported: {_in_words(error)}"
    return ""


def _suite_of(suites: str, case: str) -> str:
    parts = case.split(".")
    paths = [os.path.join(suites, *parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    files = [file for path in paths for file in (f"{path}.py", os.path.join(path, "__init__.py"))]
    return next(filter(os.path.isfile, files), case)


def _call_in_child(suites: str, case: str, profile: _Profile, answers: TextIO) -> None:
    """Answer with the shares of a case, or with its error, from a forked process; then end it."""
    try:
        for name, share in shares(suites, case, profile):
            print(json.dumps({"case": case, name: share}), file=answers, flush=True)
        os._exit(0)
    except Exception as error:
        print(json.dumps({"case": case, "failed": _in_words(error)}), file=answers, flush=True)
        os._exit(0)
    finally:  # whatever happens, a child must not go on as its parent
        os._exit(1)


def _wait(child: int, seconds: int) -> str:
    """Wait for a forked process and kill it when the time is over; return why it gave no share."""
    try:
        with _limited(seconds):
            return "its process ended" if os.waitpid(child, 0)[1] else ""
    except _TooLongError:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # it has just ended
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return f"it takes more than {seconds} s with a profile"


def _in_words(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_REASON]


def main(suites: str, source: str) -> None:
    """Profile the cases of the request."""
    request = json.load(sys.stdin)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    profile = _Profile((source, os.path.dirname(suites)), request["changed"])
    failures: dict[str, str] = {}  # by suite; an empty one has been imported
    for case in request["cases"]:
        suite = _suite_of(suites, case)
        if suite not in failures:
            failures[suite] = _import(suites, case, request["import_seconds"])
        failed = failures[suite]
        if not failed:
            child = os.fork()
            if not child:
                _call_in_child(suites, case, profile, answers)
            failed = _wait(child, request["seconds"])
        if failed:
            print(json.dumps({"case": case, "failed": failed}), file=answers)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
