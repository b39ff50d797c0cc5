"""Every subcommand of ``torchspeed``; an error ends the command as one line.

A subcommand is a function whose parameters are its options. Its file is read for every ``--help``,
so it imports nothing heavy (torch, numpy) at its top: the function imports what does the work.
"""

from __future__ import annotations

import atexit
import os
import sys
from importlib import metadata
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from torchspeed.cli import reproduce, sweep, training
from torchspeed.cli.information import info, list_names
from torchspeed.errors import TorchspeedError
from torchspeed.measure.processes import keep_memory

INTERRUPTED = 130

app = typer.Typer(
    name="torchspeed",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 done, 1 not done (one line says why), 2 wrong command line, "
    "3 some points of a sweep failed, 130 interrupted.",
)
app.command("train", epilog=training.TRAIN_EXAMPLES)(training.train)
app.command("inference", epilog=training.INFERENCE_EXAMPLES)(training.inference)
app.command("smooth-inference", epilog=training.SMOOTH_EXAMPLES)(training.smooth_inference)
app.command("sweep", epilog=sweep.EXAMPLES)(sweep.sweep)
app.command("reproduce", epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command("list")(list_names)
app.command("info")(info)


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
    """Run the command with arguments and return its exit status.

    Without them it takes those of the process, and ends the process with that status.
    """
    status = _run(arguments)
    if arguments is None:
        _end_process(status)
    return status


def _end_process(status: int) -> NoReturn:
    """End at once: after importing torch, Python's garbage collection at exit takes 1.5 s."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _run(arguments: list[str] | None) -> int:
    keep_memory()
    status = 1
    try:
        done = app(args=arguments, prog_name="torchspeed", standalone_mode=False) or 0
        sys.stdout.flush()  # failing to write is an error
        if done != INTERRUPTED:  # typer's answer to Ctrl-C
            return done
        status, message = INTERRUPTED, "interrupted"
    except (KeyboardInterrupt, typer.Abort):
        status, message = INTERRUPTED, "interrupted"
    except (BrokenPipeError, SystemExit):  # typer and rich turn the first into the second
        # Python would complain once more when it closes the broken stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        message = "standard output was closed, so the job was stopped"
    except TyperException as error:
        status, message = 2, f"{error.format_message().rstrip('.')}; see --help"
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
