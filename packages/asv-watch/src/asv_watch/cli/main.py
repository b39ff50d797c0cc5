"""Every subcommand of ``asv-watch``, and how one runs: an error ends it as a line and a status.

To add a subcommand, write a function whose parameters are its options, in a module that bears its
name or in the ``command`` of a room, and add an entry to `COMMANDS`. The module is imported when
the subcommand is called, because ``asv-watch --help`` should not wait for asv and numpy.
"""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from types import FrameType
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from asv_watch.errors import REMEDIES, ExitStatus, MachineError, WatchError, in_words
from asv_watch.options import with_asv_options
from asv_watch.text.terminal import printable, with_output

CONTINUES = "the same command continues where it stopped"
KEPT = "finished rounds are kept, and the same command continues"


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    module: str
    """Its function, named as the subcommand, returns the exit status or ``None`` for 0."""
    help: str
    interrupted: str = ""
    """What is kept after Ctrl-C, for the message."""
    examples: str = ""


COMMANDS = {
    "bench": Command(
        "asv_watch.bench",
        "Measure the cases of HEAD that have no result yet, and publish the site.",
        CONTINUES,
    ),
    "nightly": Command(
        "asv_watch.night.command",
        "Measure every commit that is not measured yet, most urgent first, and publish the site.",
        CONTINUES,
    ),
    "compare": Command(
        "asv_watch.compare.command",
        "Compare two commits or releases, with interleaved rounds.",
        KEPT,
    ),
    "gate": Command(
        "asv_watch.gate.command",
        "Decide if a pull request is slower than its merge base in the cases that it touches.",
        "nothing was written",
        "Examples: asv-watch gate; asv-watch gate --base origin/main --limit 40min --threshold 5% "
        "--comment gate.md",
    ),
    "bisect": Command(
        "asv_watch.bisect",
        "Find the commit, or the release of a requirement, that changed a case.",
        "the comparisons so far are stored",
    ),
    "explain": Command(
        "asv_watch.explain",
        "Name the operators that account for a difference, from profiles of both sides.",
        "nothing was printed",
    ),
    "calibrate": Command(
        "asv_watch.compare.calibrate",
        "Compare HEAD with itself, which shows how noisy this machine is.",
        KEPT,
    ),
    "releases": Command(
        "asv_watch.releases.command",
        "Compare the releases of a requirement, and list what each changed.",
        CONTINUES,
    ),
    "report": Command(
        "asv_watch.publish",
        "Print the newest changes for an issue or an e-mail: size, interval, commits and cause.",
    ),
    "results": Command("asv_watch.results", "Check the stored results, and name each fault."),
    "publish": Command(
        "asv_watch.publish",
        "Write the site from the stored results.",
        "the site is as it was before",
    ),
}


def _explain_failure(error: Exception, arguments: Sequence[str]) -> tuple[ExitStatus, str]:
    """Return the exit status and the message of an error that ended a command.

    Raises:
        OSError, ImportError: ``error`` itself, if no remedy is known: that is a defect.
    """
    if isinstance(error, TyperException):
        message = _explain_bad_value(error) or f"{error.format_message().rstrip('.')}; see --help"
        return ExitStatus.WRONG_REQUEST, message
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0]
        if not isinstance(error, ModuleNotFoundError) or package in {"", "asv_watch"}:
            raise error
        return ExitStatus.FAILED, (
            f"the Python package {package} is missing, which `asv-watch {arguments[0]}` needs; "
            "install asv-watch again, with all that it requires"
        )
    if isinstance(error, OSError):
        if error.errno not in REMEDIES:
            raise error
        return ExitStatus.FAILED, in_words(error)
    return ExitStatus.FAILED, str(error).rstrip(".")


def _explain_bad_value(error: TyperException) -> str:
    """Name an option, its value and what is wrong with it; empty for other errors.

    typer checks values with pydantic, whose message is about its own types.
    """
    option = getattr(error, "param", None)
    if option is None or not isinstance(error.__cause__, ValidationError):
        return ""
    [problem] = error.__cause__.errors()
    reason = problem["msg"].removeprefix("Value error, ").rstrip(".")
    return f"{option.opts[0]} {problem['input']!r}: {reason}"


_HELP = {"help_option_names": ["-h", "--help"]}


class _Subcommand(TyperCommand):
    """A subcommand whose function is imported when it is called."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(name, help=command.help)
        self._command = command

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Import the function, whose parameters are the options."""
        single = typer.Typer(add_completion=False, context_settings=_HELP)
        function = getattr(import_module(self._command.module), str(self.name))
        run = with_asv_options(with_output(function))
        single.command(self.name, help=self.help, epilog=self._command.examples or None)(run)
        return typer.main.get_command(single).make_context(*arguments, **options)


class _AllCommands(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, command in COMMANDS.items():
            self.add_command(_Subcommand(name, command))


app = typer.Typer(
    name="asv-watch",
    cls=_AllCommands,
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
    """Run the command, by default with the arguments of the process; return its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    status: int
    received: list[int] = []  # typer does not pass on which signal came
    handled: list[signal.Signals] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt(signal.Signals(number).name)

    try:
        if sys.platform == "win32":  # which has no SIGHUP and no fcntl
            raise WatchError("Windows is not supported; install it in WSL 2, which is a Linux")
        for ending in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(ending) == signal.SIG_DFL:
                signal.signal(ending, end)
                handled.append(ending)
        answer = app(args=list(arguments), prog_name="asv-watch", standalone_mode=False)
        if answer == ExitStatus.INTERRUPTED:  # typer's answer to Ctrl-C
            raise KeyboardInterrupt
        sys.stdout.flush()
        return int(answer or ExitStatus.DONE)
    except (KeyboardInterrupt, typer.Abort):
        number = received[0] if received else signal.SIGINT
        name = signal.Signals(number).name
        how = "interrupted" if number == signal.SIGINT else f"ended by {name}"
        command = COMMANDS.get(arguments[0]) if arguments else None
        kept = f"; {command.interrupted}" if command and command.interrupted else ""
        status, message = 128 + number, f"{how}{kept}"
    except (BrokenPipeError, SystemExit):  # typer and rich turn the first into the second
        # Python would complain once more when it closes the broken stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = ExitStatus.FAILED
        message = "standard output was closed, so the job was stopped"
    except (TyperException, WatchError, MachineError, OSError, ImportError) as error:
        status, message = _explain_failure(error, arguments)
    except MemoryError:
        status = ExitStatus.FAILED
        message = "the memory is full; end other programs, or add memory"
    finally:
        for ending in handled:
            signal.signal(ending, signal.SIG_DFL)
    print(printable(f"asv-watch: {' '.join(message.split())}"), file=sys.stderr)
    return status
