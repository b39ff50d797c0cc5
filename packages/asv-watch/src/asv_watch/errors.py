"""The errors that a person sees as one line with the remedy, and the exit statuses of commands.

Entry points print them to standard error and exit with status 1, without a traceback.
A function that *refuses* something raises one of them.
"""

from enum import IntEnum


class WatchError(Exception):
    """Bad input, or a folder that cannot be worked in; the message names the input."""


class MachineError(Exception):
    """Something is wrong with the disk, the memory, the network or the package index.

    A night does not count it as a failure of a commit.
    """


class ExitStatus(IntEnum):
    """Meaning of each status; after a signal it is 128 plus the signal's number, as in shells."""

    DONE = 0
    FAILED = 1
    """The job could not be done; one line on standard error says why."""
    WRONG_REQUEST = 2
    """The command line is wrong: an unknown command, option or value."""
    SOME_CASES_FAILED = 3
    """The job was done and published, but some cases or commits in it failed."""
    SLOWER = 4
    """A case is slower: in a gate, or in a comparison with ``--fail-if-slower``."""
    UNDECIDED = 5
    """The gate is undecided: too little was measured."""
    INTERRUPTED = 130
    """Ctrl-C ended it; after SIGTERM the status is 143, after SIGHUP 129."""
