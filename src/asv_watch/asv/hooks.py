"""The asv plugin: stores each case with its outcome, and skips cases that need not run.

asv loads it for every command, by the ``plugins`` entry of asv.conf.json. The modules next
to it replace functions of asv and read its private attributes, as the one release of asv has them
that this package requires; another one is refused.

With ``ASV_WATCH_PROGRESS=<file>`` JSON lines tell a watching process the plan (case to number
of rounds) and each case that ran.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import asv
import asv.benchmarks
import asv.commands.run
import asv.environment
import asv.machine
import asv.results
import asv.runner
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
from packaging.requirements import Requirement

from asv_watch.asv import chosen, environments, processes, results_files, skipping
from asv_watch.asv.declared import declare, declared, read_declared
from asv_watch.asv.environments import build_without_dependencies
from asv_watch.asv.measured_run import MeasuredRun
from asv_watch.errors import WatchError
from asv_watch.machine.lock import exclusive_run
from asv_watch.records.side_files import OUTCOMES, read_outcomes

_LOCKED_COMMANDS = (Check, Continuous, Find, Profile, Rm, Run, Setup, Update)
_add_result = asv.results.Results.add_result
_runs: list[MeasuredRun] = []
"""The run that goes on, if there is one: asv's runner is a chain of functions, not an object."""


def _running(original: Any) -> Any:
    """Replace ``run_benchmarks``, and ``skip_benchmarks``, which follows a failed build."""

    def run_benchmarks(benchmarks: Any, env: Any, results: Any = None, **options: Any) -> Any:
        folder = results_files.folder_of(results)
        resume = os.environ.get("ASV_WATCH_RESUME")
        builds = "record_samples" in options
        reports = None
        if folder is not None and resume and builds:  # else no round can be added to a case
            path = results_files.side_file(results, folder, OUTCOMES)
            if path.exists():
                reports, _ = read_outcomes(path)
        remaining = skipping.select(benchmarks, results, resume, reports)
        if builds:
            options["record_samples"] = True
        run = MeasuredRun(remaining, env, results, options, _add_result)
        _runs.append(run)
        try:
            run.begin()
            answer = original(remaining.benchmarks, env, results=results, **options)
        finally:
            _runs.pop()
            run.close()
        run.end()
        return answer

    return run_benchmarks


def _locked(original: Any, name: str) -> Any:
    """Replace a command's ``run_from_conf_args``: it holds the checkout, or refuses to start."""

    def run_from_conf_args(cls: Any, conf: Any, args: Any, **options: Any) -> Any:
        try:
            chosen.apply(conf)
            declare(read_declared(conf, Path.cwd()))
            build_without_dependencies(conf)
            with exclusive_run(Path(conf.env_dir), f"asv {name}"):
                os.environ[processes.TEMPORARY_FOLDER] = tempfile.gettempdir()
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


def _during_a_run(original: Any, method: Any) -> Any:
    """Replace a function of asv by one that asks the current run, and gives it the original."""

    def function(*arguments: Any, **keywords: Any) -> Any:
        if not _runs:
            return original(*arguments, **keywords)
        return method(_runs[0], original, *arguments, **keywords)

    return function


def _describing(original: Any) -> Any:
    """Replace the constructor of ``Benchmarks``: entries come with what is declared of suites."""

    def construct(self: Any, conf: Any, benchmarks: Any, regex: Any = None) -> None:
        original(self, conf, map(declared().describe, benchmarks), regex)

    return construct


def setup() -> None:
    """Called by asv once the plugin is loaded.

    Raises:
        asv.util.UserError: The installed asv is not one that this can work with.
    """
    for requirement in map(Requirement, metadata.requires("asv-watch") or ()):
        if requirement.name == "asv" and asv.__version__ not in requirement.specifier:
            raise asv.util.UserError(
                f"asv {asv.__version__} is installed and asv-watch works with {requirement}; run "
                f"`pip install {requirement}`"
            )
    results, spawner = asv.results.Results, asv.runner.Spawner
    if results.add_result is not _add_result:
        return  # a test may load the plugin more than once
    asv.util.load_json = results_files.loading_json(asv.util.load_json)
    asv.util.write_json = results_files.write_json
    benchmarks = asv.benchmarks.Benchmarks
    benchmarks.__init__ = _describing(benchmarks.__init__)
    benchmarks.save = results_files.save_benchmarks
    asv.commands.run.run_benchmarks = _running(asv.runner.run_benchmarks)
    asv.commands.run.skip_benchmarks = _running(asv.runner.skip_benchmarks)
    asv.runner._run_benchmark_single_param = _during_a_run(
        asv.runner._run_benchmark_single_param, MeasuredRun.run_case
    )
    asv.runner.fail_benchmark = _during_a_run(asv.runner.fail_benchmark, MeasuredRun.fail)
    results.add_result = _during_a_run(_add_result, MeasuredRun.add_result)
    results.remove_samples = _during_a_run(results.remove_samples, MeasuredRun.remove_samples)
    results.load = classmethod(results_files.loading_values(results.load.__func__))
    results.load_data = results_files.loading(results.load_data)
    results.rm = results_files.removing_file(results.rm)
    spawner.run = processes.run
    spawner.create_setup_cache = _during_a_run(
        processes.create_setup_cache, MeasuredRun.create_setup_cache
    )
    environment = asv.environment.Environment
    environment.create = environments.creating(environment.create)
    environment._build_project = environments.building(environment._build_project)
    existing = asv.environment.ExistingEnvironment
    existing.__init__ = environments.existing(existing.__init__)
    machines = asv.machine.MachineCollection
    machines.load = staticmethod(results_files.loading_machine(machines.load))
    machines.save = staticmethod(results_files.save_machine)
    for command in _LOCKED_COMMANDS:
        original = command.run_from_conf_args.__func__
        name = command.__name__.lower()
        command.run_from_conf_args = classmethod(_locked(original, name))
