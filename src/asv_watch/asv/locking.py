"""Lets an asv command that changes environments or results hold the checkout."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import asv.util
from asv.commands.asv_profiling import Profile
from asv.commands.check import Check
from asv.commands.continuous import Continuous
from asv.commands.find import Find
from asv.commands.rm import Rm
from asv.commands.run import Run
from asv.commands.setup import Setup
from asv.commands.update import Update
from asv.console import log

from asv_watch.asv.declared import declare, read_declared
from asv_watch.asv.environments import build_without_dependencies
from asv_watch.asv.processes import temporary_files_in
from asv_watch.errors import WatchError
from asv_watch.machine.lock import exclusive_run

LOCKED_COMMANDS = (Check, Continuous, Find, Profile, Rm, Run, Setup, Update)


def locked(original: Any, name: str) -> Any:
    """Replace a command's ``run_from_conf_args``: it holds the checkout, or refuses to start.

    Raises:
        asv.util.UserError: Another run holds the checkout.
        SystemExit: A signal ended the command.
    """

    def run_from_conf_args(cls: Any, conf: Any, args: Any, **options: Any) -> Any:
        try:
            declare(read_declared(conf, Path.cwd()))
            build_without_dependencies(conf)
            with (
                exclusive_run(Path(conf.env_dir), f"asv {name}"),
                temporary_files_in(Path(tempfile.gettempdir())),
            ):
                return original(cls, conf, args, **options)
        except WatchError as error:
            raise asv.util.UserError(str(error)) from error
        except (KeyboardInterrupt, asv.util.UserError) as error:
            # While a case runs, asv turns the one into the other.
            cause = error.__context__ if isinstance(error, asv.util.UserError) else error
            if not isinstance(cause, KeyboardInterrupt):
                raise
            log.error("Interrupted; what was measured is stored")
            sys.exit(128 + getattr(cause, "signal_number", signal.SIGINT))

    return run_from_conf_args
