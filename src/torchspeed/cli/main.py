"""Every command of ``torchspeed``; an error ends the command as one line.

The file of a command is read for every ``--help``, so it imports nothing heavy (torch, numpy) at
its top: the function imports what does the work.
"""

import atexit
import os
import sys
from importlib import metadata

from torchspeed.cli import information, reproduce, sweep, training
from torchspeed.cli.options import Parser, UsageError
from torchspeed.errors import TorchspeedError
from torchspeed.measure.processes import keep_memory

INTERRUPTED = 130


def parser() -> Parser:
    """Return the parser of the command line."""
    program = Parser(
        prog="torchspeed",
        description="Train the benchmarked models, with every phase timed.",
        epilog="Exit status: 0 done, 1 not done (one line says why), 2 wrong command line, "
        "3 some points of a sweep failed, 130 interrupted.",
    )
    version = f"torchspeed {metadata.version('torchspeed')}"
    program.add_argument("--version", action="version", version=version)
    commands = program.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for part in (training, sweep, reproduce, information):
        part.add_commands(commands)
    return program


def main(arguments: list[str] | None = None) -> int:
    """Run the command with arguments and return its exit status.

    Without them it takes those of the process, and ends the process with that status.
    """
    status = _run(arguments)
    if arguments is None:
        # End at once: after importing torch, Python's garbage collection at exit takes 1.5 s.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


def _run(arguments: list[str] | None) -> int:
    keep_memory()
    status = 1
    try:
        return _run_command(arguments)
    except KeyboardInterrupt:
        status, message = INTERRUPTED, "interrupted"
    except (BrokenPipeError, SystemExit):  # rich turns the first into the second
        # Python would complain once more when it closes the broken stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = "standard output was closed, so the job was stopped"
    except UsageError as error:
        status, message = 2, f"{error}; see --help"
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "torchspeed":  # a defect
            raise
        message = (
            f"the Python package {error.name} is missing; "
            "run `pip install 'torchspeed[measure,train]'`"
        )
    except (TorchspeedError, OSError) as error:
        message = str(error).rstrip(".")
    print(f"torchspeed: {' '.join(message.split())}", file=sys.stderr)
    return status


def _run_command(arguments: list[str] | None) -> int:
    status = 0
    try:
        options = vars(parser().parse_args(arguments))
        status = options.pop("run")(options) or 0
    except SystemExit as done:
        if done.code != 0:  # which --help and --version end with
            raise
    sys.stdout.flush()  # failing to write is an error
    return status
