"""Imports modules once, and forks a process for each script that it is asked to run.

Runs as a script in the environment that is measured, ``python -P case_server.py <socket>
<module> ...``; it needs nothing of this package, so that it can serve commits from before it. It
imports asv_runner and the modules, which may take longer than most cases take. A fork is safe
because nothing else runs before it.

It runs on Linux alone, and connects to the Unix socket, in which a packet is a message of JSON:

- First it sends ``{"releases": {"numpy": "2.4.0"}, "threads": 1}``: the releases of the modules
  that it has imported, and its threads, those of libraries included.
- ``{"script": "…/benchmark.py", "arguments": ["run", …], "folder": "/tmp/…"}``, together with a
  file descriptor, runs a script as ``python script arguments`` would, with its output in that
  file. The answer is ``{"pid": 7}`` at once and ``{"status": 0}``, minus the signal if one ended
  it, when the process has ended and its process group has been killed.

It ends when the socket is closed.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from typing import Any

_LONGEST_REQUEST = 1 << 20  # bytes
_OF_ASV = ("asv_runner.benchmarks", "asv_runner.server")


def _run_script(script: str, arguments: Sequence[str]) -> int:
    """Run a script in this process; return its exit status."""
    sys.argv = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _start(request: dict[str, Any], output: int, connection: socket.socket) -> int:
    """Fork a process that runs the script; return its number."""
    child = os.fork()
    if child:
        os.close(output)
        with contextlib.suppress(OSError):  # the child does so too, and may be first
            os.setpgid(child, child)
        return child
    try:
        os.setpgid(0, 0)  # so that it can be killed together with what it starts
        connection.close()
        for stream in (sys.stdout, sys.stderr):
            os.dup2(output, stream.fileno())
        os.close(output)
        os.chdir(request["folder"])
        os._exit(_run_script(request["script"], request["arguments"]))
    finally:  # whatever happens, a child must not go on as its parent
        os._exit(1)


def _wait(child: int) -> int:
    """Wait for the end of a process, end what it has left behind, and return its exit status."""
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _import(modules: Sequence[str]) -> dict[str, str]:
    """Import what takes long from where asv's script would; return the releases of modules."""
    added = os.environ.get("ASV_PYTHONPATH", "")
    if added:
        sys.path[:0] = added.split(os.pathsep)
    elif os.environ.get("PYTHONPATH"):
        return {}  # the script takes these folders out of sys.path: it may find other modules
    releases = {}
    for name in (*modules, *_OF_ASV):
        with contextlib.suppress(ImportError):
            releases[name] = str(getattr(importlib.import_module(name), "__version__", ""))
    return releases


def main(address: str, modules: Sequence[str]) -> None:
    """Import modules, then run what is asked for."""
    releases = _import(modules)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(address)

        def send(message: dict[str, Any]) -> None:
            connection.sendall(json.dumps(message).encode())

        threads = len(os.listdir("/proc/self/task"))
        send({"releases": releases, "threads": threads})
        while True:
            request, files, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, maxfds=1)
            if not request:
                return
            child = _start(json.loads(request), files[0], connection)
            send({"pid": child})
            send({"status": _wait(child)})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    os._exit(0)  # or Python looks for cycles among all that was imported, for up to a second
