"""What the command prints when a job ends early: one line with the reason and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError
from typer.exceptions import TyperException

from torchspeed.cli.commands import COMMANDS
from torchspeed.exit_status import ExitStatus


def explain_failure(error: Exception, arguments: Sequence[str]) -> tuple[ExitStatus, str]:
    """Return the exit status and the message of an error that ended a command.

    Args:
        error: what was raised.
        arguments: the command line, without the program's name.

    Raises:
        OSError, ImportError: ``error`` itself, where it names nothing: that is a defect.
    """
    if isinstance(error, TyperException):
        message = _explain_bad_value(error) or f"{error.format_message().rstrip('.')}; see --help"
        return ExitStatus.WRONG_REQUEST, message
    if isinstance(error, ImportError):
        return ExitStatus.FAILED, _explain_missing_package(error, arguments[0])
    if isinstance(error, OSError):
        return ExitStatus.FAILED, _explain_os_error(error)
    return ExitStatus.FAILED, str(error).rstrip(".")


def explain_interrupt(arguments: Sequence[str]) -> str:
    """Return the message after Ctrl-C, with what the command leaves behind."""
    command = COMMANDS.get(arguments[0]) if arguments else None
    return (
        f"interrupted; {command.interrupted}" if command and command.interrupted else "interrupted"
    )


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
    if not isinstance(error, ModuleNotFoundError) or package in {"", "torchspeed"}:
        raise error
    return (
        f"the Python package {package} is missing, which `torchspeed {name}` needs; "
        "run `pip install 'torchspeed[measure,train]'`"
    )


def _explain_os_error(error: OSError) -> str:
    if error.strerror is None:
        raise error
    name = f"{error.filename}: " if error.filename is not None else ""
    return f"{name}{error.strerror}"
