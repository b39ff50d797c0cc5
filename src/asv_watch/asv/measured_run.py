"""One ``asv run`` of one commit in one environment, in the place of functions of asv.

Whether a round of a case is measured is in `skipping`, and how it is stored in `case_store`.
"""

from __future__ import annotations

import datetime
import math
import tempfile
import time
from pathlib import Path
from typing import Any

import asv.util
from asv.runner import BenchmarkResult

from asv_watch.asv import results_files
from asv_watch.asv.case_store import CaseStore, outcome_of_case, outcome_of_failure, tell
from asv_watch.asv.declared import declared
from asv_watch.asv.environments import describe_run
from asv_watch.asv.forking import ForkingSpawner, may_fork
from asv_watch.asv.selection import cannot_run, case_name, cases_of
from asv_watch.asv.skipping import Remaining, Rounds, selected_cases
from asv_watch.errors import MachineError
from asv_watch.machine.room import check_machine
from asv_watch.records.side_files import PROCESSES


class MeasuredRun:
    """The ``asv run`` of one commit in one environment, while it goes on."""

    def __init__(
        self, remaining: Remaining, env: Any, results: Any, options: Any, add_result: Any
    ) -> None:
        self._remaining = remaining
        self._env = env
        self._results = results
        self._options = options
        self._rounds = Rounds(remaining, options)
        record = describe_run(env) if remaining.benchmarks else None
        self._store = CaseStore(results, add_result, record)
        self._stored: set[str] = set()
        """Benchmarks of which asv asked for a case since it last added their results."""
        self._forking: ForkingSpawner | None = None

    def begin(self) -> None:
        """Report the plan, and record the cases that cannot run."""
        tell({"plan": self._rounds.plan()})
        for case, reason in self._remaining.skipped.items():
            self._store.note(case, "skipped", reason)
        self._store.report()

    def close(self) -> None:
        """End the process that cases are forked from."""
        if self._forking is not None:
            self._forking.close()

    def end(self) -> None:
        """Record the state of the machine after the run."""
        self._store.end()

    def run_case(
        self,
        original: Any,
        benchmark: dict[str, Any],
        spawner: Any,
        index: int,
        **keywords: Any,
    ) -> Any:
        """Measure one round of a case and store it, in the place of asv's function.

        Raises:
            asv.util.UserError: It cannot be stored, or the environment holds another commit.
        """
        name, case = benchmark["name"], case_name(benchmark, cases_of(benchmark)[index])
        self._stored.add(name)
        rounds, store = self._rounds, self._store
        call, first_call = rounds.begin(case), rounds.first(benchmark, case)
        report = self._remaining.continued.get(case)
        if case in rounds.finished_early:
            return rounds.finished_early[case]
        if call < first_call:
            return BenchmarkResult([math.nan], [None], [None], 0, "", None)
        continues = call > first_call or bool(self._options.get("append_samples"))
        earlier: list[float] = []
        if report is not None and call == first_call:
            continues = True
            earlier, number = store.reported_samples(benchmark, index, report)
            keywords["extra_params"] = keywords["extra_params"] | number
        forking = self._forking_in_place_of(spawner)
        chosen = forking if may_fork(benchmark, case) else spawner
        began, started = datetime.datetime.now(datetime.UTC), time.monotonic()
        result = original(benchmark, chosen, index, **keywords)
        self._check_commit()
        outcome, reason = outcome_of_case(result, benchmark)
        samples, left = len(result.samples[0] or ()), rounds.left_after(benchmark, call)
        if outcome == "failed":
            self._check_machine(reason)
            # A text or an infinity would be stored as it is, and could not be published.
            result = result._replace(result=[None], samples=[None], number=[None])
        if outcome != "ok":
            rounds.finished_early[case] = result
        elif earlier:
            result = result._replace(samples=[earlier + result.samples[0]])
        extra = {"samples": samples, "rounds_left": left}
        if outcome == "ok" or not continues:
            store.add(benchmark, index, result, began, append=continues and not earlier)
        else:  # what earlier rounds measured stays, and a resumed run continues with this one
            extra = {"samples": len(store.samples(benchmark, index)), "rounds_left": left + 1}
        store.note(case, outcome, reason, time.monotonic() - started, **extra)
        store.report()
        return result

    def _check_machine(self, reason: str) -> None:
        """Stop the run where the machine is to blame for a case that failed, as a full disk is."""
        folder = results_files.folder_of(self._results)
        last_line = reason.rpartition("\n")[2]
        try:
            check_machine(last_line, Path(tempfile.gettempdir()), *([folder] if folder else []))
        except MachineError as error:
            raise asv.util.UserError(str(error)) from error

    def create_setup_cache(
        self, original: Any, spawner: Any, benchmark_id: str, timeout: float, params_str: str
    ) -> tuple[str | None, str | None]:
        """Run a ``setup_cache``, in a fork if forks may measure all cases of its benchmark."""
        benchmark = self._remaining.benchmarks[benchmark_id]
        names = [
            case_name(benchmark, params)
            for params in cases_of(benchmark)
            if not cannot_run(benchmark, params, declared())
        ]
        run = None
        if all(may_fork(benchmark, name) for name in names):
            run = self._forking_in_place_of(spawner).run_script
        cache: tuple[str | None, str | None] = original(
            spawner, benchmark_id, timeout, params_str, run
        )
        return cache

    def add_result(
        self,
        original: Any,
        results: Any,
        benchmark: dict[str, Any],
        result: Any,
        **keywords: Any,
    ) -> None:
        """Add what asv collected of a benchmark in this round, in the place of asv's method.

        Its cases are stored already, so that only its times and messages are new, unless no case
        of it was started.
        """
        name, count = benchmark["name"], len(cases_of(benchmark))
        if name in self._stored:
            self._stored.discard(name)
            result = result._replace(result=[math.nan] * count)
            result = result._replace(samples=[None] * count, number=[None] * count)
            keywords["selected_idx"] = []
        original(results, benchmark, result, **(keywords | {"record_samples": True}))
        if self._store.has_unreported:
            self._store.save()
            self._store.report()

    def fail(
        self, original: Any, benchmark: dict[str, Any], stderr: str = "", errcode: int = 1
    ) -> Any:
        """Note the cases of a benchmark that failed before any of them was started.

        Returns:
            The result, in which cases that were not selected have not failed.
        """
        result = original(benchmark, stderr=stderr, errcode=errcode)
        outcome, reason = outcome_of_failure(stderr, benchmark)
        selected = set(selected_cases(self._remaining.benchmarks, benchmark))
        for index, params in enumerate(cases_of(benchmark)):
            if index in selected:
                self._store.note(case_name(benchmark, params), outcome, reason)
            else:
                result.result[index] = math.nan  # asv's None would call a case failed
        return result

    def remove_samples(
        self, original: Any, results: Any, key: str, selected_idx: Any = None
    ) -> None:
        """Drop earlier samples only where asv interleaves commits and so appends every round.

        Elsewhere the first round of a case replaces them when it is stored.
        """
        if self._options.get("run_rounds") is not None:
            original(results, key, selected_idx)

    def _forking_in_place_of(self, spawner: Any) -> ForkingSpawner:
        if self._forking is None:
            self._forking = ForkingSpawner(spawner)
            if self._store.record is not None:
                processes = self._forking.processes
                self._store.record["environment"][PROCESSES] = processes
        return self._forking

    def _check_commit(self) -> None:
        """Refuse a value of another commit than that under which it would be stored."""
        if not self._env.can_install_project():
            return
        installed, expected = self._env.installed_commit_hash, self._results.commit_hash
        if installed != expected:
            raise asv.util.UserError(
                f"the environment {self._env.name} holds commit {installed}, and results are to "
                f"be stored under {expected}; the last case is not stored. Something else used "
                "the environment: run the same again"
            )
