"""Runs the command; every error ends as one line with an `ExitStatus`."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from typing import Annotated

import typer
from typer.exceptions import TyperException

from torchspeed.cli.commands import COMMANDS
from torchspeed.cli.failures import explain_failure, explain_interrupt
from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.measure.allocator import keep_memory

app = typer.Typer(
    name="torchspeed",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done, 1 not done (one line says why), 2 wrong command line, "
    "3 some points of a sweep failed, 130 interrupted.",
)
for _name, _command in COMMANDS.items():
    app.command(_name, epilog=_command.examples or None)(_command.run)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"torchspeed {metadata.version('torchspeed')}")
        raise typer.Exit


@app.callback()
def _torchspeed(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Train the benchmarked models, with every phase timed."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: without the program's name; those of the process by default.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    keep_memory()
    try:
        return int(_run(arguments) or ExitStatus.DONE)
    except (KeyboardInterrupt, typer.Abort):
        status, message = ExitStatus.INTERRUPTED, explain_interrupt(arguments)
    except (BrokenPipeError, SystemExit):  # typer and rich turn the first into the second
        # Python would complain once more when it closes the broken stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitStatus.FAILED
        message = "standard output was closed, so the job was stopped"
    except (TyperException, TorchspeedError, OSError, ImportError) as error:
        status, message = explain_failure(error, arguments)
    print(f"torchspeed: {' '.join(message.split())}", file=sys.stderr)
    return status


def _run(arguments: list[str]) -> int | None:
    status: int | None = app(args=list(arguments), prog_name="torchspeed", standalone_mode=False)
    if status == ExitStatus.INTERRUPTED:  # typer's answer to Ctrl-C
        raise KeyboardInterrupt
    sys.stdout.flush()
    return status
