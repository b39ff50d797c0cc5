"""Lists the benchmarks of a folder of suites, or of some of its modules, as asv's script does.

Runs as a script in the environment that is measured, ``python -P listing.py <folder of suites>
<file> <seconds> <folder of the package> [module]...``; it needs nothing of this package. Where
modules are named, no other is imported: a suite may take half a minute to import.

One process imports module after module, so that what they share is imported once. A module that
takes longer than the given seconds is given up. If the process is killed, such as for the memory
that it uses, its last module is imported once more, by a new process.

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
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, NoReturn


class _Importer:
    """A process that imports one module after the other."""

    def __init__(self, suites: str, package: str) -> None:
        self._connection, theirs = Pipe()
        self.has_ended = False
        self.has_imported = False
        """Whether it holds a module that it imported before."""
        self._pid = os.fork()
        if not self._pid:
            _answer_requests(suites, package, theirs)
        theirs.close()

    def ask(self, module: str, limit_s: float) -> dict[str, Any]:
        """Return the answer about a module, or why there is none in time."""
        with contextlib.suppress(ConnectionError):  # it has just ended, which `poll` finds out
            self._connection.send(module)
        try:
            if not self._connection.poll(limit_s):
                self.end()
                return {"late": True}
            answer: dict[str, Any] = self._connection.recv()
        except (EOFError, ConnectionError):
            return {"ended": self.end()}
        self.has_imported = True
        return answer

    def end(self) -> int:
        """Kill the process, unless it has ended; return its exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self.has_ended = True
        self._connection.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


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
        answer["failed"] = " ".join(f"{type(error).__name__}: {error}".split())
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
    answers: dict[str, dict[str, Any]] = {}
    importer = _Importer(suites, package)
    try:
        while left:
            if importer.has_ended:
                importer = _Importer(suites, package)
            name, has_others, began = left.pop(0), importer.has_imported, time.monotonic()
            answer = importer.ask(name, limit_s)
            if answer.get("ended") == -signal.SIGKILL and has_others:
                left.insert(0, name)
                continue
            answers[name] = answer | {"seconds": time.monotonic() - began}
            if name == root and modules and "failed" not in answer and "below" in answer:
                left += [f"{root}.{module}" for module in modules]
            else:
                left += answer.get("below", [])
    finally:
        if not importer.has_ended:
            importer.end()
    return answers


if __name__ == "__main__":
    list_benchmarks(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], sys.argv[5:])
