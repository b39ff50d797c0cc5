"""The exit statuses of the ``torchspeed`` command."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What a script can tell from the status; 128 and a signal's number as shells have it."""

    DONE = 0
    FAILED = 1
    """The job could not be done; one line on standard error says why."""
    WRONG_REQUEST = 2
    """The command line is wrong: an unknown command, option or value."""
    SOME_CASES_FAILED = 3
    """The job was done and published, but some cases or commits in it failed."""
    INTERRUPTED = 130
