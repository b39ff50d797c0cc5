"""Starts the processes of sides; those of one environment are forks of one parent.

The parent has imported the modules that belong to no side. So they are imported once for all sides
of a round, and lie at the same addresses: what differs from process to process by chance, such as
the layout of memory, is then the same for both sides of a ratio. Another round has another parent.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from asv_watch import probes
from asv_watch.engine.sides import Side
from asv_watch.machine.children import Child, Lines

_SECONDS_TO_END = 2.0
"""Seconds that processes may take to end before they are killed."""


@dataclass(frozen=True, slots=True)
class Start:
    """How the process of a side starts."""

    side: Side
    folder: Path
    """Its working folder."""
    errors: IO[bytes]
    """File to which it writes its errors."""
    memory_limit: float
    """Bytes that it and its children may use."""


class Parent:
    """The process from which those of the sides are forked, or that of the only side."""

    def __init__(self, child: Child, connections: int) -> None:
        """Describe a process that has started, and from which so many sides are forked."""
        self.child, self._open = child, connections

    def leave(self, connection: Connection, *, kill: bool) -> None:
        """End a side's process by closing its input; after the last side, or to kill, end all."""
        with contextlib.suppress(BrokenPipeError):
            connection.requests.close()
        self._open -= 1
        if kill or not self._open:
            if not kill:
                self.child.end(_SECONDS_TO_END)
            self.child.kill()  # also what it started and left behind
        connection.answers.file.close()


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection to the process of a side."""

    parent: Parent
    requests: IO[bytes]
    answers: Lines


def start_processes(
    starts: Sequence[Start], seed: int, preload: Sequence[str], shared: Sequence[str]
) -> list[Connection]:
    """Start one process for sides of one environment; if there are several, it forks one for each.

    Args:
        starts: the sides.
        seed: seed of Python's hashes of texts.
        preload: modules to import before anything is measured.
        shared: modules that all sides import, to import once for several of them.
    """
    requests, answers = [os.pipe() for _ in starts], [os.pipe() for _ in starts]
    files = [
        (asked[0], answering[1], start.errors.fileno())
        for start, asked, answering in zip(starts, requests, answers, strict=True)
    ]
    sides = [
        {
            "files": of_side,
            "folder": str(start.folder),
            "source": str(start.side.source),
            "planted": start.side.planted,
        }
        for start, of_side in zip(starts, files, strict=True)
    ]
    first = starts[0]
    child = Child(
        first.side.command(probes.MEASURE, json.dumps(sides), *preload, "--", *shared),
        stdin=subprocess.DEVNULL,
        stdout=first.errors,
        stderr=first.errors,
        pass_fds=list(itertools.chain(*files)),
        cwd=first.folder,
        env={"PYTHONHASHSEED": str(seed), **first.side.variables, "PYTHONPATH": ""},
    )
    for asked, answering in zip(requests, answers, strict=True):
        os.close(asked[0])
        os.close(answering[1])
    parent = Parent(child, len(starts))
    return [
        Connection(
            parent,
            os.fdopen(asked[1], "wb", 0),
            Lines(os.fdopen(answering[0], "rb", 0), start.memory_limit),
        )
        for start, asked, answering in zip(starts, requests, answers, strict=True)
    ]
