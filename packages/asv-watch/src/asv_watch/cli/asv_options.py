"""asv's own options, which every command takes in addition."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from asv_watch.asv.chosen import choose

_PANEL = "Options of asv"
_OPTIONS = {
    "config": typer.Option(
        metavar="FILE",
        rich_help_panel=_PANEL,
        help="asv's settings; by default asv.conf.json or asv.conf.jsonc of this folder. The "
        "command runs in the folder of FILE, so relative paths of other options start there.",
    ),
    "environment": typer.Option(
        "--environment",
        "-E",
        metavar="TYPE[:PYTHON]",
        rich_help_panel=_PANEL,
        help="Make environments of this type, such as virtualenv, whatever asv.conf.json names; "
        "or asv's name of one environment.",
    ),
    "python": typer.Option(
        metavar="PYTHON",
        rich_help_panel=_PANEL,
        help="Measure with this Python, such as 3.13, or same for the one that runs asv-watch. A "
        "path, such as env/bin/python, measures what is installed there and makes no environment.",
    ),
}


def with_asv_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that takes asv's options and reads the settings that they choose.

    An option that the command itself has keeps its own meaning.
    """
    signature = inspect.signature(function, eval_str=True)
    added = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default="", annotation=Annotated[str, option]
        )
        for name, option in _OPTIONS.items()
        if name not in signature.parameters
    ]

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        chosen = dict.fromkeys(_OPTIONS, "")
        chosen |= {parameter.name: arguments.pop(parameter.name) for parameter in added}
        choose(**chosen)
        return function(**arguments)

    parameters = [*signature.parameters.values(), *added]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
