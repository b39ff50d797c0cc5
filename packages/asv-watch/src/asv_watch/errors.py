"""The errors that a person sees as one line with the remedy, and the exit statuses of commands.

Entry points print them to standard error and exit with status 1, without a traceback.
A function that *refuses* something raises one of them.
"""

import errno
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


OF_MACHINE = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room in your quota",
    errno.EROFS: "work in a copy on a disk that can be written",
    errno.EMFILE: "raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "end other programs, too many files are open",
    errno.ENOMEM: "end other programs, or add memory",
}
"""Errors of the operating system for which no case is to blame, with the remedies.

A `MemoryError` is none of them: the case wanted more than there is, and smaller ones go on.
"""
REMEDIES = {
    **OF_MACHINE,
    errno.EFBIG: "raise the limit of file sizes (`ulimit -f unlimited`)",
    errno.EACCES: "let this user read and write it",
    errno.EPERM: "let this user read and write it",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOTDIR: "a folder is needed there: move the file away",
    errno.EEXIST: "a folder is needed there: move the file away",
    errno.EISDIR: "a file is needed there: move the folder away",
    errno.EINVAL: "a regular file is needed there: move away what is there",
    errno.ESPIPE: "a regular file is needed there: move away what is there",
    errno.ELOOP: "a link there leads to itself: remove it",
    errno.EIO: "its disk fails, see the messages of the kernel",
    errno.ESTALE: "its network file system was unmounted or changed, mount it again",
}
"""Remedies of all errors of the operating system that a command explains."""


def in_words(error: OSError) -> str:
    """Name the file of an error, what is wrong, and the remedy if one is known."""
    name = f"{error.filename}: " if error.filename is not None else ""
    remedy = f"; {REMEDIES[error.errno]}" if error.errno in REMEDIES else ""
    return f"{name}{error.strerror}{remedy}"
