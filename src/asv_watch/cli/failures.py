"""What the command prints when a job ends early: one line with the reason and the remedy."""

from __future__ import annotations

import errno
import signal
from collections.abc import Sequence

from pydantic import ValidationError
from typer.exceptions import TyperException

from asv_watch.cli.commands import COMMANDS
from asv_watch.exit_status import ExitStatus
from asv_watch.machine.room import REMEDIES

_REMEDIES = {
    **REMEDIES,
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
"""What a person can do about an error of the operating system, by its number."""


def explain_failure(error: Exception, arguments: Sequence[str]) -> tuple[ExitStatus, str]:
    """Return the exit status and the message of an error that ended a command.

    Raises:
        OSError, ImportError: ``error`` itself, where no remedy is known: that is a defect.
    """
    if isinstance(error, TyperException):
        message = _explain_bad_value(error) or f"{error.format_message().rstrip('.')}; see --help"
        return ExitStatus.WRONG_REQUEST, message
    if isinstance(error, ImportError):
        return ExitStatus.FAILED, _explain_missing_package(error, arguments[0])
    if isinstance(error, OSError):
        return ExitStatus.FAILED, _explain_os_error(error)
    return ExitStatus.FAILED, str(error).rstrip(".")


def explain_interrupt(arguments: Sequence[str], number: int) -> str:
    """Return the message after Ctrl-C, or another signal, with what the command leaves behind."""
    how = "interrupted"
    if number != signal.SIGINT:
        how = f"ended by {signal.Signals(number).name}"
    command = COMMANDS.get(arguments[0]) if arguments else None
    return f"{how}; {command.interrupted}" if command and command.interrupted else how


def _explain_bad_value(error: TyperException) -> str:
    """Name an option, the value it was given, and one that it takes; empty for other errors.

    typer checks values with pydantic, whose messages are about its own types.
    """
    option = getattr(error, "param", None)
    if option is None or not isinstance(error.__cause__, ValidationError):
        return ""
    [problem] = error.__cause__.errors()
    limits = problem.get("ctx", {})
    remedies = {
        "greater_than": f"a number above {limits.get('gt')}",
        "greater_than_equal": f"a number of at least {limits.get('ge')}",
        "less_than": f"a number below {limits.get('lt')}",
        "less_than_equal": f"a number of at most {limits.get('le')}",
        "int_parsing": "a whole number",
        "float_parsing": "a number",
        "value_error": f"one of {problem['msg'].partition(' is not one of ')[2].rstrip('.')}",
    }
    remedy = remedies.get(problem["type"], f"another value ({problem['msg']})")
    name = option.opts[0] if option.opts[0].startswith("-") else option.human_readable_name
    return f"{name} {problem['input']!r}: give {remedy}"


def _explain_missing_package(error: ImportError, name: str) -> str:
    package = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package in {"", "asv_watch"}:
        raise error
    return (
        f"the Python package {package} is missing, which `asv-watch {name}` needs; "
        "install asv-watch again, with all that it requires"
    )


def _explain_os_error(error: OSError) -> str:
    if error.errno not in _REMEDIES:
        raise error
    name = f"{error.filename}: " if error.filename is not None else ""
    return f"{name}{error.strerror}; {_REMEDIES[error.errno]}"
