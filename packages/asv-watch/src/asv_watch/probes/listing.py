"""Lists the benchmarks of a folder of suites, or of some of its modules, as asv's script does.

Runs as a script in the environment that is measured, ``python -P listing.py <folder of suites>
<file> <seconds> <folder of the package> [module]...``; it needs nothing of this package. Where
modules are named, no other is imported: a suite may take half a minute to import.

One process imports module after module, so that what they share is imported once. If it sleeps
while it imports one, as it does in a download, another process goes on with the next ones. A
module that takes longer than the given seconds is given up. If a process is killed, such as for
the memory that it uses, its last module is imported once more at the end, when there is no other.

The file gets JSON: the list of ``benchmarks``; ``failures``, which maps a module that cannot be
imported, or whose benchmarks cannot be made, to the error; ``ended``, which maps one whose import
ends its process to the exit status; ``late``, the modules that were given up; ``elsewhere``, which
maps a module after which parts of the package are imported from another folder to their files by
name; and ``seconds``, which maps each module to the time that it took. An empty name stands for
the folder itself.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import json
import os
import pkgutil
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NoReturn

_SECONDS_BETWEEN_LOOKS = 0.1
_SLEEPS_S = 2.0
"""A process that slept for so many seconds in an import waits for something."""
_MOST_PROCESSES = 8


class _Importer:
    """A process that imports one module after the other."""

    def __init__(self, suites: str, package: str) -> None:
        self.connection, theirs = Pipe()
        self.module = ""
        """The module that it imports; empty if it has nothing to do."""
        self.has_ended = False
        self.has_imported = False
        """Whether it holds a module that it imported before."""
        self._began = self._looked_s = self.slept_s = 0.0
        self._pid = os.fork()
        if not self._pid:
            _answer_requests(suites, package, theirs)
        theirs.close()

    def ask(self, module: str) -> None:
        self.module, self._began = module, time.monotonic()
        self._looked_s = self.slept_s = 0.0
        with contextlib.suppress(ConnectionError):  # it has just ended, which `poll` finds out
            self.connection.send(module)

    def poll(self, limit_s: float) -> dict[str, Any] | None:
        """Return the answer about its module, or why there is none; ``None`` before that."""
        seconds = time.monotonic() - self._began
        if self.connection.poll():
            try:
                answer: dict[str, Any] = self.connection.recv()
            except (EOFError, ConnectionError):
                answer = {"ended": self.end()}
        elif seconds > limit_s:
            self.end()
            answer = {"late": True}
        else:
            self.slept_s += (seconds - self._looked_s) * _is_asleep(self._pid)
            self._looked_s = seconds
            return None
        self.module, self.has_imported = "", True
        return answer | {"seconds": seconds}

    def end(self) -> int:
        """Kill the process, unless it has ended; return its exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self.has_ended = True
        self.connection.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _is_asleep(process: int) -> bool:
    """Tell whether a process neither computes nor waits for a core or a disk; false if unknown."""
    try:
        line = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return line.rpartition(")")[2].split()[0] == "S"


def _answer_requests(suites: str, package: str, connection: Connection) -> NoReturn:
    """Answer each name of a module with what it holds, in a forked process; then end it."""
    try:
        from asv_runner import discovery  # noqa: PLC0415 - of the environment

        nowhere = os.open(os.devnull, os.O_WRONLY)
        for output in (1, 2):  # a process that a suite leaves behind would keep them open
            os.dup2(nowhere, output)
        discovery.update_sys_path(suites)
        found_before = _found_elsewhere(suites, package).items()
        while True:
            answer = _contents(suites, connection.recv())
            # Such as if a suite puts the checkout first in `sys.path`, whatever the commit.
            moved = dict(_found_elsewhere(suites, package).items() - found_before)
            connection.send(answer | ({"elsewhere": moved} if moved else {}))
    finally:  # whatever happens, it must not go on as its parent
        os._exit(1)


def _contents(suites: str, name: str) -> dict[str, Any]:
    from asv_runner import discovery  # noqa: PLC0415 - of the environment

    answer: dict[str, Any] = {}
    listed = io.StringIO()
    try:
        module = importlib.import_module(name)
        below = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}.")
        answer["below"] = [found for _, found, _ in below]
        discovery.disc_modules = lambda *_, **__: iter([module])
        discovery.list_benchmarks(suites, listed)
        answer["benchmarks"] = json.loads(listed.getvalue())
    except BaseException as error:  # whatever a suite raises, such as SystemExit
        answer["failed"] = f"{type(error).__name__}: {error}"
    return answer


def _found_elsewhere(suites: str, package: str) -> dict[str, str]:
    folders = Path(package).resolve(), Path(suites).resolve()
    entries = folders[0].iterdir() if folders[0].is_dir() else ()
    names = sorted({entry.name.partition(".")[0] for entry in entries})
    found = {}
    for name in (name for name in names if name.isidentifier() and not name.startswith("__")):
        with contextlib.suppress(ValueError):  # a suite put something else in its place
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.has_location and spec.origin:
                file = Path(spec.origin).resolve()
                if not any(map(file.is_relative_to, folders)):
                    found[name] = str(file)
    return found


def list_benchmarks(
    suites: str, file: str, limit_s: float, package: str, modules: Sequence[str]
) -> None:
    """Write the benchmarks of modules, such as ``package.module``, or of all, to a file."""
    answers = _import_all(suites, package, limit_s, modules)
    by_module = {name.partition(".")[2]: answers[name] for name in sorted(answers)}

    def column(key: str) -> dict[str, Any]:
        return {name: answer[key] for name, answer in by_module.items() if key in answer}

    written = {
        "benchmarks": list(itertools.chain(*column("benchmarks").values())),
        "failures": column("failed"),
        "ended": column("ended"),
        "late": list(column("late")),
        "elsewhere": column("elsewhere"),
        "seconds": column("seconds"),
    }
    Path(file).write_text(json.dumps(written), encoding="utf-8")


def _import_all(
    suites: str, package: str, limit_s: float, modules: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Import the folder of the suites, then the modules; return the answer about each."""
    root = Path(suites).name
    left = [root]
    alone: list[str] = []
    answers: dict[str, dict[str, Any]] = {}
    importers: list[_Importer] = []
    try:
        while left or alone or any(importer.module for importer in importers):
            busy = [importer for importer in importers if importer.module]
            all_sleep = all(importer.slept_s >= _SLEEPS_S for importer in busy)
            if not left and not busy:
                while importers:
                    importers.pop().end()
                left.append(alone.pop())
            if left and len(busy) < _MOST_PROCESSES and all_sleep:
                if len(busy) == len(importers):
                    importers.append(_Importer(suites, package))
                idle = next(one for one in reversed(importers) if not one.module)
                idle.ask(left.pop(0))
                continue
            wait([importer.connection for importer in busy], _SECONDS_BETWEEN_LOOKS)
            for importer in busy:
                name, has_others = importer.module, importer.has_imported
                answer = importer.poll(limit_s)
                if answer is None:
                    continue
                has_others |= len(importers) > 1
                if answer.get("ended") == -signal.SIGKILL and has_others:
                    alone.append(name)
                    continue
                answers[name] = answer
                below = answer.get("below", [])
                if name == root and modules and "failed" not in answer and "below" in answer:
                    below = [f"{root}.{module}" for module in modules]
                left += below
            importers = [importer for importer in importers if not importer.has_ended]
    finally:
        for importer in importers:
            importer.end()
    return answers


if __name__ == "__main__":
    list_benchmarks(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], sys.argv[5:])
