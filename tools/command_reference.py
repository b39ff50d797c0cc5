"""Writes docs/commands.md from the help of the commands: ``python -m tools.command_reference``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
_PROGRAMS = {"asv-watch": "asv_watch", "torchspeed": "torchspeed"}
"""Program to its package."""
_HEAD = """# Commands

Every command with its options, as its `--help` prints them. `asv-watch` measures, compares and
publishes; `torchspeed` trains. `python -m tools.command_reference` writes this page.
"""


def command_reference() -> str:
    """Return the page: a section for each program, and one for each of its commands."""
    parts = [_HEAD]
    for program, package in _PROGRAMS.items():
        overview = _help(package)
        parts += [f"## {program}\n", f"```text\n{overview}\n```\n"]
        commands = overview.partition("Commands:\n")[2].partition("\n\n")[0]
        for line in commands.splitlines():
            name = line.split()[0] if line.startswith("  ") and line[2] != " " else ""
            if name:
                parts += [f"### {program} {name}\n", f"```text\n{_help(package, name)}\n```\n"]
    return "\n".join(parts)


def _help(package: str, *command: str) -> str:
    plain = {"TYPER_USE_RICH": "0", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", f"{package}.cli", *command, "--help"],
        env=os.environ | plain,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip()


if __name__ == "__main__":
    PAGE.write_text(command_reference(), encoding="utf-8")
