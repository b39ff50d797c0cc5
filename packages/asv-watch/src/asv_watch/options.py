"""Options that several commands have, and asv's own, which every command takes in addition.

The choice of asv's settings, environments and Python is kept in environment variables, which every
reading of the settings obeys.
"""

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from asv_watch.asv import CONFIG, ENVIRONMENT, ENVIRONMENT_NAME, PYTHON
from asv_watch.errors import WatchError

Cases = Annotated[
    str,
    typer.Option(
        metavar="PATTERN", help="Take only the cases whose name matches this regular expression."
    ),
]
OneCase = Annotated[
    str, typer.Option(metavar="PATTERN", help="A regular expression that matches one case.")
]
Full = Annotated[bool, typer.Option("--full", help="Measure every case, not the short set.")]
Release = Annotated[
    str,
    typer.Option(
        metavar="RELEASE",
        help="Measure with this release of the main requirement of asv.conf.json: a number, "
        "newest, or all.",
    ),
]
Machine = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Name of this machine's folder of results; by default the host name."
    ),
]
TimeBudget = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Stop measuring after this time, such as 10m or 4h, and keep the finished cases.",
    ),
]
TimeLimit = Annotated[
    str,
    typer.Option(
        "--limit",
        "--budget",
        metavar="TIME",
        help="Measure for this time at most, such as 10min or 600 (seconds), and answer from what "
        "was measured until then.",
    ),
]
SIDE = "COMMIT[@RELEASE]"
Before = Annotated[str, typer.Option(metavar=SIDE, help="The baseline; . is the working tree.")]
After = Annotated[str, typer.Option(metavar=SIDE, help="What is compared with the baseline.")]

_PYTHON_VERSION = re.compile(r"(pypy)?[0-9][0-9.]*t?")
_PANEL = "Options of asv"


def choose(
    config: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            rich_help_panel=_PANEL,
            help="asv's settings; by default asv.conf.json or asv.conf.jsonc of this folder. The "
            "command runs in the folder of FILE, so relative paths of other options start there.",
        ),
    ] = "",
    environment: Annotated[
        str,
        typer.Option(
            "--environment",
            "-E",
            metavar="TYPE[:PYTHON]",
            rich_help_panel=_PANEL,
            help="Make environments of this type, such as virtualenv, whatever asv.conf.json "
            "names; or asv's name of one environment.",
        ),
    ] = "",
    python: Annotated[
        str,
        typer.Option(
            metavar="PYTHON",
            rich_help_panel=_PANEL,
            help="Measure with this Python, such as 3.13, or same for the one that runs "
            "asv-watch. A path, such as env/bin/python, measures what is installed there and "
            "makes no environment.",
        ),
    ] = "",
) -> None:
    """Choose the settings that this process and those that it starts read.

    ``environment`` may also be ``existing:`` and the path of a Python.

    Raises:
        WatchError: There is no such file, or the Python is not a version.
    """
    if config:
        path = Path(config).absolute()
        if not path.is_file():
            raise WatchError(
                f"--config {config!r} is not a file; give the path of an asv.conf.json"
            )
        os.environ[CONFIG] = str(path)
        os.chdir(path.parent)
    if os.sep in python:
        environment, python = f"existing:{os.path.abspath(python)}", ""
    if not ENVIRONMENT_NAME.fullmatch(environment) and not environment.startswith("existing:"):
        environment, _, named = environment.partition(":")
        python = python or named
    if python == "same":
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
    if python and not _PYTHON_VERSION.fullmatch(python):
        raise WatchError(
            f"{python!r} is not a version of Python; give one such as 3.13, same, or a path such "
            "as env/bin/python"
        )
    for name, text in ((ENVIRONMENT, environment), (PYTHON, python)):
        if text:
            os.environ[name] = text


def with_asv_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that takes the options of `choose` and reads the settings chosen.

    An option that the command itself has keeps its own meaning.
    """
    signature = inspect.signature(function, eval_str=True)
    added = [
        option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, option in inspect.signature(choose).parameters.items()
        if name not in signature.parameters
    ]

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        choose(**{option.name: arguments.pop(option.name) for option in added})
        return function(**arguments)

    parameters = [*signature.parameters.values(), *added]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
