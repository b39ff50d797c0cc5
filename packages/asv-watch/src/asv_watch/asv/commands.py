"""Runs asv, with its output in a log, and other commands."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from asv_watch.asv.chosen import asv_arguments
from asv_watch.errors import MachineError, WatchError
from asv_watch.machine.children import Child, MemoryWatch, TooMuchMemoryError, exit_in_words
from asv_watch.machine.faults import OF_MACHINE
from asv_watch.machine.memory import memory_limit
from asv_watch.versions.git import variables_for_git

_WARNING = re.compile(r"left out of the site: .*")
"""Warnings of asv that are passed on."""


_FAULTS = tuple(
    (os.strerror(number), f"{os.strerror(number)}; {remedy}")
    for number, remedy in OF_MACHINE.items()
)
_CAUSES = (
    (
        r"Temporary failure in name resolution|NewConnectionError|Max retries exceeded|"
        r"ConnectTimeoutError|Network is unreachable|failed to lookup address|"
        r"Read timed out|Connection reset by peer|RemoteDisconnected|IncompleteRead|"
        r"incomplete-download|\b5\d\d Server Error|HTTP error 5\d\d|"
        r"DO NOT MATCH THE HASHES|SSLError|ProxyError|Wheel '[^']*' located at \S+ is invalid",
        MachineError,
        "the package index answers slowly or wrongly, or cannot be reached; check the network "
        "and run the same again later",
    ),
    (
        # pip also says this if an index answers late, incompletely or with an error.
        r"satisfies the requirement (?P<what>[\w.=<>+-]+) \(from versions: none\)",
        MachineError,
        "{what} cannot be installed: the package index names no version of it for this Python; "
        "check the network and asv.conf.json, and run the same again later",
    ),
    (
        r"RuntimeError: failed to query (?P<what>\S+) with code",
        WatchError,
        "{what} is no Python that runs here; install it, or choose another one with --python",
    ),
    (
        r"(?:No matching distribution found for|find a version that satisfies the requirement) "
        r"(?P<what>[\w.=<>+-]+)|Cannot install (?P<together>.+) because these package versions",
        WatchError,
        "{what}{together} cannot be installed: no package index offers it for this Python; "
        "check the releases in asv.conf.json, and the network",
    ),
    (
        r"(?:× )?(?P<what>\S[^\n]*)\n(?:\s*(?:note:|hint:|╰)[^\n]*\n)*"  # pip's hints
        r"\s*·+ Last error: [^\n]*\n·+ Failed to build the project and ",
        WatchError,
        "this commit cannot be installed, or the suites cannot be imported with it ({what}); "
        "if a later commit repairs that, you need not do anything",
    ),
    (
        r"ModuleNotFoundError: No module named '(?P<what>[\w.]+)'",
        WatchError,
        'the Python module {what} is missing; if the suites need it, add its package to "matrix" '
        'of asv.conf.json ("req": {{"{what}": []}}), else to what the project requires',
    ),
)
"""Patterns of what a failed command prints, and what to say; the first that matches counts."""

_BULLETS = re.compile(r"^(?:\[[ \d.]+%\] )?·+ ")
"""What asv puts before its messages."""
_SECONDS_TO_END = 2.0
"""Seconds that asv has to end by itself after Ctrl-C."""
_ASV = "import asv.main, asv_watch; asv_watch.setup(); asv.main.main()"


class NoCaseError(WatchError):
    """No case matches the selection of a run."""


def find_cause(log: str, status: int = 1, *, installs: bool = True) -> MachineError | WatchError:
    """Return an error that says in one line why a command failed.

    Args:
        log: what it printed.
        status: its exit status.
        installs: whether it installs packages, so that it meets the package index.

    Returns:
        A `MachineError` if its disk, memory or network is to blame, or the package index.
    """
    if status < 0:
        return WatchError(exit_in_words(status))
    for text, remedy in _FAULTS:
        if text in log:
            return MachineError(remedy)
    for pattern, error, message in _CAUSES:
        match = re.search(pattern, log)
        if match and (installs or error is WatchError):
            return error(message.format(**match.groupdict("")))
    lines = [line for text in log.splitlines() if (line := _BULLETS.sub("", text).strip())]
    return WatchError(lines[-1] if lines else "it printed nothing")


def run_command(
    command: Sequence[str],
    timeout_s: float,
    *,
    installs: bool = False,
    watch: MemoryWatch | None = None,
    **options: Any,
) -> str:
    """Run a command and return what it printed.

    Args:
        command: the program and its arguments.
        timeout_s: seconds after which it is ended, with the processes that it started.
        installs: whether it installs packages, and so waits for the package index.
        watch: its limit of memory, if that is not the usual one.
        options: of `subprocess.Popen`, such as ``cwd``.

    Raises:
        MachineError: it failed because of the machine or the package index.
        WatchError: it failed otherwise, used too much memory, or took too long.
    """
    watch, deadline = watch or MemoryWatch(memory_limit()), time.monotonic() + timeout_s
    with Child(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    ) as child:
        try:
            for seconds in watch.turns(child.process.pid, deadline):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    printed, errors = child.process.communicate(timeout=seconds)
                    break
        except TimeoutError:
            late = MachineError if installs else WatchError
            raise late(f"no answer after {timeout_s:g} s; try again later") from None
        except TooMuchMemoryError as error:
            raise WatchError(str(error)) from None
    if child.process.returncode:
        raise find_cause(errors, child.process.returncode, installs=installs)
    return str(printed)


def run_asv_publish(root: Path, log: Path) -> None:
    """Run `asv publish` in ``root`` with this plug-in, whether asv.conf.json names it or not.

    Args:
        root: the checkout.
        log: file for its output; its warnings are printed.

    Raises:
        WatchError: asv failed; says why, and where its output is.
        MachineError: it did because of the disk, the memory or the network.
        OSError: asv's output could not be written to the log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("wb", buffering=0) as stream,
        Child(
            [sys.executable, "-c", _ASV, "publish", "--no-pull", *asv_arguments(root)],
            cwd=root,
            env=variables_for_git(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as child,
    ):
        try:
            for line in child.process.stdout or ():
                stream.write(line.encode())
                if warning := _WARNING.search(line):
                    print(f"  {warning[0]}", flush=True)
        except BaseException:
            child.send_signal(signal.SIGINT)  # so that the site stays as it was
            raise
        finally:
            child.end(_SECONDS_TO_END)
    status = child.process.returncode
    if status:
        printed = log.read_text(encoding="utf-8", errors="replace")
        cause = find_cause(printed, status)
        failed = "" if isinstance(cause, MachineError) else "`asv publish` failed: "
        raise type(cause)(f"{failed}{cause} (full output: {log})")
