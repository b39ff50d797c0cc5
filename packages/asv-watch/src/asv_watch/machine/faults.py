"""Tells whether a case failed because the machine ran out of disk, open files or memory."""

import errno
import os
import re
import shutil
import tempfile
from pathlib import Path

from asv_watch.errors import MachineError

_FEWEST_BYTES = 32 * 1024**2
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
    errno.ELOOP: "a link there leads to itself: remove it",
    errno.EIO: "its disk fails, see the messages of the kernel",
    errno.ESTALE: "its network file system was unmounted or changed, mount it again",
}
"""Remedies of all errors of the operating system that a command explains."""


def check_machine(reason: str, folder: Path) -> None:
    """Raise an error if the machine, and not the case, is at fault, as with a full disk.

    Args:
        reason: why the case failed: the last line of its error.
        folder: where it writes.

    Raises:
        MachineError: it is at fault; the message has the remedy.
    """
    match = re.search(r"\[Errno (\d+)\]", reason)
    if match and int(match[1]) in OF_MACHINE:
        raise MachineError(f"{reason}; {OF_MACHINE[int(match[1])]}, and run the same again")
    if not folder.is_dir():
        return
    free = shutil.disk_usage(folder).free
    if free < _FEWEST_BYTES:
        raise MachineError(
            f"{folder}: No space left on device; only {free / 1024**2:.0f} MiB are free"
        )
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(4096))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise MachineError(f"{folder}: {error.strerror}") from error
