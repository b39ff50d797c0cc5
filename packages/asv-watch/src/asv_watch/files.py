"""Reads and locks files; writes files that stay whole when the process is killed."""

import errno
import fcntl
import os
import stat
import sys
from pathlib import Path
from typing import IO

from asv_watch.errors import WatchError

_LARGEST = 64 * 2**20
"""Bytes of the largest file that is read at once: its data take some thirty times as much."""


def read_regular(path: Path | str) -> bytes:
    """Read a regular file, or one that a symbolic link leads to; reading a fifo would never end.

    Raises:
        OSError: The file is missing (a dangling link included), cannot be read, has more than
            64 MiB, or is a folder, fifo, socket or device.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # opening a fifo would wait as well
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        if status.st_size > _LARGEST:
            message = f"it has {status.st_size:,} bytes, of {_LARGEST:,} that are read at most"
            raise OSError(errno.EFBIG, message, str(path))
        content = os.read(descriptor, status.st_size + 1)
        if len(content) != status.st_size:  # larger than one read, or it grows
            with open(descriptor, "rb", buffering=0, closefd=False) as stream:
                content += stream.read()
        return content
    finally:
        os.close(descriptor)


def lock(descriptor: int, path: Path) -> bool:
    """Lock an open file or folder until it is closed; return whether no other process holds it.

    Raises:
        WatchError: Its file system supports no locks, as some network file systems.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise WatchError(
            f"{path} cannot be locked ({error.strerror}); move it to a disk that supports locks"
        ) from error
    return True


def make_folder(folder: Path) -> None:
    """Make a folder with its parents, so that their names survive a loss of power."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file's content; after a kill or a loss of power it is the old or the new one.

    Raises:
        OSError: The disk is full, or the folder cannot be written; the old content stays.
    """
    aside = path.with_name(f".{path.name}.tmp")
    try:
        aside.unlink(missing_ok=True)  # left by a killed process, or a link that leads elsewhere
        with aside.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        aside.replace(path)
    except BaseException as error:
        aside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # what `write` raises names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    _sync_folder(path.parent)


def check_output(path: Path) -> None:
    """Refuse what `write_output` cannot write to, before a command takes hours; write nothing."""
    folder = Path(os.path.realpath(path)).parent
    is_special = path.exists() and not path.is_file()
    can_write = is_special or (folder.is_dir() and os.access(folder, os.W_OK))
    if path.is_dir() or not can_write:
        raise WatchError(f"{path} cannot be written; name a file in a folder of yours")


def write_output(path: Path, content: bytes) -> None:
    """Write to what a person named: a file is replaced, a device or a fifo is written into.

    Links are followed. A standard stream, such as ``/dev/stdout``, is written through itself: if
    it leads to a file, what was printed before stays.

    Raises:
        WatchError: It is a folder, or cannot be written; a file stays as it was.
    """
    sys.stdout.flush()
    try:
        status = path.stat() if path.exists() else None
        streams = [fd for fd in (1, 2) if status and os.path.samestat(os.fstat(fd), status)]
        if streams or (status and not stat.S_ISREG(status.st_mode)):
            target = streams[0] if streams else path
            with open(target, "wb", buffering=0, closefd=not streams) as stream:
                _write_all(stream, content)
        else:
            write_whole(Path(os.path.realpath(path)), content)
    except OSError as error:
        raise WatchError(
            f"{path} cannot be written ({error.strerror}); name another file"
        ) from error


def append_durably(path: Path, content: bytes) -> None:
    """Add content to the end of a file, on a line of its own, and wait until it is stored.

    A last line that was cut off does not swallow the first new one. If the content cannot be
    stored whole, nothing of it stays.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    make_folder(path.parent)
    is_new = not path.exists()
    try:
        with path.open("a+b", buffering=0) as stream:
            length = stream.tell()
            if length > 0:
                stream.seek(-1, os.SEEK_END)
                if stream.read(1) != b"\n":
                    content = b"\n" + content
            try:
                _write_all(stream, content)
                os.fsync(stream.fileno())
            except BaseException:
                stream.truncate(length)
                if is_new:
                    path.unlink()
                raise
    except OSError as error:  # what `write` raises names no file, and `seek` in a fifo no number
        number, text = error.errno or errno.EINVAL, error.strerror or str(error)
        raise OSError(number, text, str(path)) from error
    if is_new:
        _sync_folder(path.parent)


def _write_all(stream: IO[bytes], content: bytes) -> None:
    """Write to a stream without a buffer, which may take a part at a time."""
    left = memoryview(content)
    while left:
        left = left[stream.write(left) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
