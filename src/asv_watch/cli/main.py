"""Runs the command; every error ends as one line with an `ExitStatus`."""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module, metadata
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from asv_watch.cli.commands import COMMANDS, Command
from asv_watch.cli.failures import explain_failure, explain_interrupt
from asv_watch.errors import MachineError, WatchError
from asv_watch.exit_status import ExitStatus
from asv_watch.signals import handling_the_end

_HELP = {"help_option_names": ["-h", "--help"]}


class _Subcommand(TyperCommand):
    """A subcommand whose function is imported when it is called."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name, help=command.help)
        self._command = command

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Import the function, whose parameters are the options."""
        module, _, function = self._command.function.partition(":")
        single = typer.Typer(add_completion=False, context_settings=_HELP)
        run = getattr(import_module(module), function)
        single.command(self.name, help=self.help, epilog=self._command.examples or None)(run)
        return typer.main.get_command(single).make_context(*arguments, **options)


class _AllCommands(TyperGroup):
    """The command with its subcommands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, command in COMMANDS.items():
            self.add_command(_Subcommand(name, command))


app = typer.Typer(
    name="asv-watch",
    cls=_AllCommands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=_HELP,
    epilog="Exit status: 0 done, 1 not done (one line says why), 2 wrong command line, "
    "3 done but some cases failed, 4 slower (gate, compare --fail-if-slower), "
    "5 undecided (gate), 130 interrupted, 143 ended by SIGTERM.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"asv-watch {metadata.version('asv-watch')}")
        raise typer.Exit


@app.callback()
def _asv_watch(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Measure an asv project over its commits and releases, interleaved, and publish a site."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status.

    Args:
        arguments: without the program's name; those of the process by default.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    status: int
    received: list[int] = []  # on its way out typer forgets what was raised

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt(signal.Signals(number).name)

    try:
        with handling_the_end(end):
            return int(_run(arguments) or ExitStatus.DONE)
    except (KeyboardInterrupt, typer.Abort):
        number = received[0] if received else signal.SIGINT
        status, message = 128 + number, explain_interrupt(arguments, number)
    except (BrokenPipeError, SystemExit):  # typer and rich turn the first into the second
        # Python would complain once more when it closes the broken stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitStatus.FAILED
        message = "standard output was closed, so the job was stopped"
    except (TyperException, WatchError, MachineError, OSError, ImportError) as error:
        status, message = explain_failure(error, arguments)
    except MemoryError:
        status, message = ExitStatus.FAILED, "the memory is full; end other programs, or add some"
    print(f"asv-watch: {' '.join(message.split())}", file=sys.stderr)
    return status


def _run(arguments: list[str]) -> int | None:
    status: int | None = app(args=list(arguments), prog_name="asv-watch", standalone_mode=False)
    if status == ExitStatus.INTERRUPTED:  # typer's answer to Ctrl-C
        raise KeyboardInterrupt
    sys.stdout.flush()
    return status
