"""Writes docs/commands.md from the commands themselves: ``python -m tools.command_reference``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path

import typer

from asv_watch.cli.main import app as asv_watch
from torchspeed.cli.main import app as torchspeed

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
_PROGRAMS = {"asv-watch": asv_watch, "torchspeed": torchspeed}
_HEAD = """# Commands

Every command with its options, from what its `--help` prints. `asv-watch` measures, compares and
publishes; `torchspeed` trains. `python -m tools.command_reference` writes this page.
"""


def command_reference() -> str:
    """Return the page: a section for each program, and one for each of its commands."""
    parts = [_HEAD]
    for program, app in _PROGRAMS.items():
        group = typer.main.get_group(app)
        parts.append(f"## {program}\n\n{_text(group.help)}\n\n{_text(group.epilog)}\n")
        for name, command in group.commands.items():
            with command.make_context(name, [], resilient_parsing=True) as context:
                described = [
                    record
                    for parameter in command.params
                    if parameter.name != "help"
                    and (record := parameter.get_help_record(context)) is not None
                ]
            parts.append(f"### {program} {name}\n\n{_text(command.help)}\n")
            if described:
                parts.append(_table(described))
    return "\n".join(parts)


def _table(described: Sequence[tuple[str, str]]) -> str:
    """Return a row for each argument and option, its default at the end."""
    rows = [f"| `{_text(name)}` | {_text(what)} |" for name, what in described]
    return "\n".join(["| | |", "|---|---|", *rows, ""])


def _text(text: str | None) -> str:
    """Return a help text on one line, as the cell of a table."""
    return " ".join(inspect.cleandoc(text or "").split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(command_reference(), encoding="utf-8")
