"""An asv plugin: what asv forgets about a run, kept; what need not run, left out.

asv loads it for every command, by the ``plugins`` entry of asv.conf.json. It is
the only file that touches the inside of ``asv run``. What is added:

- **Outcomes.** asv writes a failed and a timed-out case alike as null, a
  skipped and a deselected one alike as NaN, and keeps no message. Beside each
  result file we write ``<same name>.outcomes.jsonl``: a line for each case run,
  with its outcome and reason. Later lines win. Where ``setup_cache`` or the build
  failed, no case of it was started: each is recorded as failed, with that message.
- **Where it ran.** Beside each result file, ``<same name>.environment.jsonl`` gets a line
  for each run: facts of the machine and of the environment, and the machine's state
  before and after (`torchspeed.watch.machine.facts`, `torchspeed.measure.probes.environment`).
- **Samples.** They are recorded whether ``--record-samples`` asks for it or not: figures
  are made of them (`torchspeed.watch.history.reported_value`).
- **Skipping for nothing.** Skipping a case costs asv a process, two seconds each,
  whether ``setup`` raises or a decorator says so. A case for a device that is plainly
  not on this machine, or that ``skip_for_params`` names, is recorded as skipped
  without one. Why the latter is skipped, the benchmark's function says in its
  attribute ``skipped_because``.
- **Conditions by hand.** asv leaves the variables of ``env_nobuild`` out of a run with
  ``--python=same`` or another existing Python. It gets them as asv's own environments
  do, apart from those that the person who runs it has set.
- **Resuming.** With ``TORCHSPEED_RESUME`` in the environment, cases that have a
  figure at this commit in this environment are not run again (``missing``), nor
  those that failed (``never-run``).

With ``TORCHSPEED_PROGRESS=<file>`` JSON lines tell a watching process what is
planned (case to rounds) and what has run.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any

import asv.commands.run
import asv.environment
import asv.results
import asv.runner
import asv.util
from asv.console import log
from asv.util import TIMEOUT_RETCODE

from torchspeed.watch import probes
from torchspeed.watch.asv.cases import cannot_run, case_name, cases_of, skipped_because
from torchspeed.watch.history import outcomes
from torchspeed.watch.history import run_records as recorded
from torchspeed.watch.history.json_lines import append_lines
from torchspeed.watch.machine.facts import machine_facts, machine_state

_SKIPPED = re.compile(r"asv: skipped: \w+\((?P<reason>.*)\)\s*$", re.MULTILINE)
_ASKING_TIMEOUT = 120  # s: importing torch from a cold disk takes most of a minute
_REASON_LENGTH = 2000
"""Characters kept of a failure's output: the end of it, where the exception is."""
_CACHE_FAILED = "asv: setup_cache failed\n\n"
"""How asv begins the message of a case whose ``setup_cache`` failed."""
_CACHE_TIMED_OUT = "setup_cache was stopped after {}"
_NOT_BUILT = "this commit could not be built and installed; asv's output says why"


class _Watch:
    """The ``asv run`` of one commit in one environment, while it goes on."""

    def __init__(self, benchmarks: Any) -> None:
        self.outcomes: list[dict[str, Any]] = []
        self._benchmarks = benchmarks

    def record(
        self, case: str, outcome: str, reason: str, seconds: float = 0.0, samples: int = 0
    ) -> None:
        """Keep what became of a case, and tell the watching process, if there is one."""
        line: dict[str, Any] = {"case": case, "outcome": outcome, "reason": reason}
        line |= {"at": int(time.time()), "seconds": round(seconds, 2)}
        if samples:
            line["samples"] = samples
        self.outcomes.append(line)
        tell({"ran": line})

    def selected(self, benchmark: dict[str, Any]) -> set[int]:
        """Places of a benchmark's cases that this run is about."""
        chosen = self._benchmarks.benchmark_selection.get(benchmark["name"])
        return set(range(len(cases_of(benchmark))) if chosen is None else chosen)


class _Place:
    """Where one ``asv run`` measures, and what else went on there at its start and end."""

    def __init__(self, env: Any) -> None:
        self._line: dict[str, Any] = {"at": int(time.time())}
        self._line |= {"machine": machine_facts(), "environment": {}, "details": {}}
        try:
            told = env.run(
                ["-P", str(probes.ENVIRONMENT)],
                timeout=_ASKING_TIMEOUT,
                env=os.environ | env.env_vars,
            )
            said = json.loads(told.splitlines()[-1])
            self._line |= {"environment": said["facts"], "details": said["details"]}
        except (asv.util.ProcessError, ValueError, LookupError) as error:
            # A figure does not depend on whether somebody could say where it came from.
            log.warning(f"the environment could not be asked about itself: {error}")
        self._line["before"] = machine_state()

    def line(self) -> dict[str, Any]:
        """All of it, as the history reads it (`torchspeed.watch.history.run_records`)."""
        return self._line | {"until": int(time.time()), "after": machine_state()}


def tell(message: dict[str, Any]) -> None:
    """Write one line to the watching process."""
    progress = os.environ.get("TORCHSPEED_PROGRESS")
    if progress:
        with open(progress, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(message) + "\n")


def _plan(benchmarks: Any, options: dict[str, Any]) -> dict[str, int]:
    """Case to the number of rounds it will run in."""
    attributes = options.get("extra_params") or {}
    asked = "1" if options.get("quick") else attributes.get("rounds")
    in_turn = options.get("run_rounds")  # those of this turn, where commits are interleaved
    plan = {}
    for name, benchmark in benchmarks.items():
        cases = cases_of(benchmark)
        selection = benchmarks.benchmark_selection.get(name)
        rounds = int(asked or benchmark.get("rounds", 1))
        if in_turn is not None:
            rounds = sum(number <= rounds for number in in_turn)
        for index in range(len(cases)) if selection is None else selection:
            plan[case_name(benchmark, cases[index])] = rounds
    return plan


_watch: _Watch | None = None


def _outcome(result: Any, benchmark: dict[str, Any]) -> tuple[str, str]:
    """Read outcome and reason off asv's result of one case."""
    value = result.result[0]
    if result.errcode == TIMEOUT_RETCODE:
        return "timed out", f"stopped after {benchmark['timeout']} s"
    if value is None:
        return "failed", result.stderr.strip()[-_REASON_LENGTH:] or f"exit {result.errcode}"
    if isinstance(value, float) and math.isnan(value):
        said = _SKIPPED.search(result.stderr)
        return "skipped", said["reason"].strip("'\"") if said else skipped_because(benchmark)
    if isinstance(value, str | list | dict) or not math.isfinite(value):
        return "failed", f"the benchmark returned {value!r}, not a finite number"
    return "ok", ""


def _is_figure(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _narrow(benchmarks: Any, results: Any, resume: str | None) -> tuple[Any, dict[str, str]]:
    """Leave out what need not run.

    Returns:
        The narrowed set of benchmarks, and the cases that cannot run, each with the reason.
    """
    narrowed = benchmarks.filter_out([])
    narrowed._benchmark_selection = dict(narrowed.benchmark_selection)
    known = results.get_result_keys(benchmarks)
    skipped: dict[str, str] = {}
    for name, benchmark in list(benchmarks.items()):
        selection = benchmarks.benchmark_selection.get(name)
        cases = cases_of(benchmark)
        old: list[Any] = [math.nan] * len(cases)
        if resume and name in known:
            old = results.get_result_value(name, benchmark["params"])
        wanted, reasons = [], {}
        for index in range(len(cases)) if selection is None else selection:
            reason = cannot_run(benchmark, cases[index])
            if reason:
                reasons[case_name(benchmark, cases[index])] = reason
            elif not (resume and (_is_figure(old[index]) or _settled(old[index], resume))):
                wanted.append(index)
        if not wanted and name in known:
            del narrowed[name]  # nothing to add: what is stored stays as it is
            continue
        skipped |= reasons
        if benchmark["params"]:
            narrowed._benchmark_selection[name] = wanted
    return narrowed, skipped


def _settled(old: Any, resume: str) -> bool:
    """A case without a figure that is not to be tried again: it failed, and we were told so."""
    return old is None and resume == "never-run"


def _hook_run_benchmarks(original: Any) -> Any:
    """For ``run_benchmarks``, and for ``skip_benchmarks``, which follows a failed build."""

    def run_benchmarks(benchmarks: Any, env: Any, results: Any = None, **options: Any) -> Any:
        global _watch  # noqa: PLW0603 - asv's own runner is a chain of functions, not an object
        narrowed, skipped = _narrow(benchmarks, results, os.environ.get("TORCHSPEED_RESUME"))
        tell({"plan": _plan(narrowed, options)})
        _watch = _Watch(narrowed)
        for case, reason in skipped.items():
            _watch.record(case, "skipped", reason)
        place = _Place(env) if narrowed else None
        if "record_samples" in options:
            options["record_samples"] = True
        try:
            return original(narrowed, env, results=results, **options)
        finally:
            results.torchspeed_lines = {outcomes.SUFFIX: _watch.outcomes}
            if place is not None:
                results.torchspeed_lines[recorded.SUFFIX] = [place.line()]
            _watch = None

    return run_benchmarks


def _hook_single_case(original: Any) -> Any:
    def run_single(benchmark: dict[str, Any], spawner: Any, index: int, *a: Any, **k: Any) -> Any:
        started = time.monotonic()
        result = original(benchmark, spawner, index, *a, **k)
        if _watch is not None:
            case = case_name(benchmark, cases_of(benchmark)[index])
            outcome, reason = _outcome(result, benchmark)
            samples = len(result.samples[0] or ())
            _watch.record(case, outcome, reason, time.monotonic() - started, samples)
            if outcome == "failed" and result.result[0] is not None:
                # A text or an infinity would be stored as it is, and crash every later publish.
                result = result._replace(result=[None], samples=[None], number=[None])
        return result

    return run_single


def _hook_existing(original: Any) -> Any:
    def __init__(self: Any, conf: Any, python: str, requirements: Any, tagged: Any) -> None:  # noqa: N807
        conditions = {
            ("nobuild", name): values[0] if isinstance(values, list) else values
            for name, values in conf.matrix.get("env_nobuild", {}).items()
            if name not in os.environ
        }
        original(self, conf, python, requirements, conditions | tagged)

    return __init__


def _hook_setup_cache(original: Any) -> Any:
    def create_setup_cache(self: Any, name: str, timeout: float, params: str) -> Any:
        folder, output = original(self, name, timeout, params)
        if folder is None and output.endswith(f"(exit status {TIMEOUT_RETCODE})"):
            output = _CACHE_TIMED_OUT.format(f"{timeout:g} s")
        return folder, output

    return create_setup_cache


def _hook_fail(original: Any) -> Any:
    def fail_benchmark(benchmark: dict[str, Any], stderr: str = "", errcode: int = 1) -> Any:
        result = original(benchmark, stderr=stderr, errcode=errcode)
        if _watch is None:
            return result
        reason = stderr.removeprefix(_CACHE_FAILED).strip()[-_REASON_LENGTH:]
        outcome = "timed out" if reason.startswith(_CACHE_TIMED_OUT.format("")) else "failed"
        selected = _watch.selected(benchmark)
        for index, params in enumerate(cases_of(benchmark)):
            if index in selected:
                _watch.record(case_name(benchmark, params), outcome, reason or _NOT_BUILT)
            else:
                result.result[index] = math.nan  # asv's None would call a case failed
        return result

    return fail_benchmark


def _hook_save(original: Any) -> Any:
    def save(self: Any, result_dir: str) -> None:
        original(self, result_dir)
        for suffix, lines in self.__dict__.pop("torchspeed_lines", {}).items():
            if lines:
                append_lines(Path(result_dir, self._filename).with_suffix(suffix), lines)

    return save


def setup() -> None:
    """Called by asv once the plugin is loaded."""
    if not hasattr(asv.results.Results.save, "is_torchspeed_hook"):
        asv.commands.run.run_benchmarks = _hook_run_benchmarks(asv.runner.run_benchmarks)
        asv.commands.run.skip_benchmarks = _hook_run_benchmarks(asv.runner.skip_benchmarks)
        asv.runner.fail_benchmark = _hook_fail(asv.runner.fail_benchmark)
        existing = asv.environment.ExistingEnvironment
        existing.__init__ = _hook_existing(existing.__init__)
        asv.runner.Spawner.create_setup_cache = _hook_setup_cache(
            asv.runner.Spawner.create_setup_cache
        )
        asv.runner._run_benchmark_single_param = _hook_single_case(
            asv.runner._run_benchmark_single_param
        )
        save = _hook_save(asv.results.Results.save)
        save.is_torchspeed_hook = True
        asv.results.Results.save = save
