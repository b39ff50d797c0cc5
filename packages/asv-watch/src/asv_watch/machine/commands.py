"""Runs commands, and says in one line why one failed, or a case: the machine may be to blame."""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from asv_watch.errors import OF_MACHINE, MachineError, WatchError
from asv_watch.machine import children


def check_machine(reason: str) -> None:
    """Refuse a failure for which the machine, and not the case, is at fault, as with a full disk.

    The reason is the last line of the case's error.
    """
    match = re.search(r"\[Errno (\d+)\]", reason)
    if match and int(match[1]) in OF_MACHINE:
        raise MachineError(f"{reason}; {OF_MACHINE[int(match[1])]}, and run the same again")


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
        r"ModuleNotFoundError: No module named '(?P<what>[\w.]+)'",
        WatchError,
        'the Python module {what} is missing; if the suites need it, add its package to "matrix" '
        'of asv.conf.json ("req": {{"{what}": []}}), else to what the project requires',
    ),
)
"""Patterns of what a failed command prints, and what to say; the first that matches counts."""

_HINTS = re.compile(r"\s*(?:note:|hint:|╰)")
"""How the lines begin that pip adds to its reason."""


def find_cause(log: str, status: int = 1, *, installs: bool = True) -> MachineError | WatchError:
    """Return an error that says in one line why a command failed, from its log and exit status.

    It is a `MachineError` if the disk, memory or network is to blame, or the package index if the
    command ``installs`` packages.
    """
    if status < 0:
        return WatchError(children.exit_in_words(status))
    for number, remedy in OF_MACHINE.items():
        if os.strerror(number) in log:
            return MachineError(f"{os.strerror(number)}; {remedy}")
    for pattern, error, message in _CAUSES:
        match = re.search(pattern, log)
        if match and (installs or error is WatchError):
            return error(message.format(**match.groupdict("")))
    lines = [line for line in log.splitlines() if line.strip() and not _HINTS.match(line)]
    return WatchError(lines[-1].strip(" ×") if lines else "it printed nothing")


def run_command(
    command: Sequence[str],
    timeout_s: float,
    *,
    installs: bool = False,
    **options: Any,
) -> str:
    """Run a command and return what it printed; options are those of `subprocess.Popen`.

    After ``timeout_s`` it is ended, with the processes that it started. One that
    ``installs`` packages waits for the package index.

    Raises:
        MachineError: it failed because of the machine or the package index.
        WatchError: it failed otherwise, used too much memory, or took too long.
    """
    watch = children.MemoryWatch(children.memory_limit())
    deadline = time.monotonic() + timeout_s
    with children.Child(
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
    if child.process.returncode:
        raise find_cause(errors, child.process.returncode, installs=installs)
    return str(printed)


def succeeds(command: Sequence[str], timeout_s: float) -> bool:
    """Tell whether a command can be started, and ends without an error in time."""
    try:
        run_command(command, timeout_s)
    except (OSError, WatchError):
        return False
    return True
