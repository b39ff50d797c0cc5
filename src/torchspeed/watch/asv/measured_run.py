"""One ``asv run`` of one commit in one environment: each case is stored when it was measured.

asv saves once, after the last round of the last benchmark. Here each case is added to asv's
``Results`` and saved as soon as its process has ended, then its outcome is appended to the side
file, and only then the watching process hears of it. A run that ends early loses the case in
progress at most, and a resumed one continues with the rounds that are missing.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import time
from collections import Counter
from typing import Any

import asv.util
from asv.console import log
from asv.runner import BenchmarkResult

from torchspeed.watch import probes
from torchspeed.watch.asv import results_files, skipping
from torchspeed.watch.asv.case_outcomes import outcome_of_case, outcome_of_failure
from torchspeed.watch.asv.cases import cannot_run, case_name, cases_of, process_name
from torchspeed.watch.asv.forking import ForkingSpawner, may_fork
from torchspeed.watch.asv.overlapping import OverlappingSpawner, cases_at_once, may_overlap
from torchspeed.watch.asv.skipping import Remaining
from torchspeed.watch.history import outcomes, run_records
from torchspeed.watch.history.outcomes import Report
from torchspeed.watch.machine.facts import machine_facts, machine_state

_ASKING_TIMEOUT = 120  # s: importing torch from a cold disk takes most of a minute


def _describe_run(env: Any) -> dict[str, Any]:
    """Describe machine and environment, and the machine's state before the run."""
    record: dict[str, Any] = {"at": int(time.time()), "machine": machine_facts()}
    record |= {"environment": {}, "details": {}}
    try:
        output = env.run(
            ["-P", str(probes.ENVIRONMENT)],
            timeout=_ASKING_TIMEOUT,
            env=os.environ | env.env_vars,
        )
        answer = json.loads(output.splitlines()[-1])
        record |= {"environment": answer["facts"], "details": answer["details"]}
    except (asv.util.ProcessError, ValueError, LookupError) as error:
        # The values are as good without a description of the environment.
        log.warning(f"the environment could not be asked about itself: {error}")
    return record | {"before": machine_state()}


class MeasuredRun:
    """The ``asv run`` of one commit in one environment, while it goes on."""

    def __init__(
        self, remaining: Remaining, env: Any, results: Any, options: Any, add_result: Any
    ) -> None:
        """Begin.

        Args:
            remaining: What is to be measured.
            env: asv's ``Environment``.
            results: asv's ``Results``, where values go.
            options: Keyword arguments of asv's ``run_benchmarks``.
            add_result: asv's own ``Results.add_result``.
        """
        self._remaining = remaining
        self._env = env
        self._results = results
        self._folder = results_files.folder_of(results)
        self._options = options
        self._add_result = add_result
        self._record = _describe_run(env) if remaining.benchmarks else None
        """Where this run measures (`torchspeed.watch.history.run_records`)."""
        self._has_saved = False
        self._calls: Counter[str] = Counter()
        self._settled: dict[str, Any] = {}
        """asv's result of each case that failed or was skipped in this run."""
        self._stored: set[str] = set()
        """Benchmarks of which cases were stored since asv added their results last."""
        self._lines: list[dict[str, Any]] = []
        """Outcomes that are not in the side file yet."""
        self._spawners: tuple[ForkingSpawner, OverlappingSpawner] | None = None

    def begin(self) -> None:
        """Tell the plan, and record the cases that cannot run."""
        tell({"plan": self._plan()})
        for case, reason in self._remaining.skipped.items():
            self._note(case, "skipped", reason)
        self._report()

    def close(self) -> None:
        """End the process that cases are forked from, and cases that were started ahead."""
        for spawner in self._spawners or ():
            spawner.close()

    def end(self) -> None:
        """Record the state of the machine after the run."""
        if self._record is not None:
            after = {"until": int(time.time()), "after": machine_state()}
            self._append(run_records.SUFFIX, [self._record | after])

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
        rounds, call = self._rounds(benchmark), self._calls[case]
        self._calls[case] += 1
        report, first_call = self._remaining.continued.get(case), self._first_call(benchmark, case)
        if case in self._settled:
            return self._settled[case]
        if call < first_call:
            return BenchmarkResult([math.nan], [None], [None], 0, "", None)
        continues = call > first_call or bool(self._options.get("append_samples"))
        earlier: list[float] = []
        if report is not None and call == first_call:
            continues = True
            earlier, number = self._stored_samples(benchmark, index, report)
            keywords["extra_params"] = keywords["extra_params"] | number
        spawner = self._spawner_for(benchmark, index, spawner, keywords["profile"])
        began, started = datetime.datetime.now(datetime.UTC), time.monotonic()
        result = original(benchmark, spawner, index, **keywords)
        self._check_commit()
        outcome, reason = outcome_of_case(result, benchmark)
        samples = len(result.samples[0] or ())
        in_turn = self._options.get("run_rounds")
        left = rounds - call - 1 if in_turn is None else in_turn[0] - 1
        if outcome == "failed":
            # A text or an infinity would be stored as it is, and could not be published.
            result = result._replace(result=[None], samples=[None], number=[None])
        if outcome != "ok":
            self._settled[case] = result
        elif earlier:
            result = result._replace(samples=[earlier + result.samples[0]])
        extra = {"samples": samples, "rounds_left": left}
        if outcome == "ok" or not continues:
            self._add_case(benchmark, index, result, began, append=continues and not earlier)
        else:  # what earlier rounds measured stays, and a resumed run continues with this one
            extra = {"samples": len(self._samples(benchmark, index)), "rounds_left": left + 1}
        self._note(case, outcome, reason, time.monotonic() - started, **extra)
        self._report()
        return result

    def create_setup_cache(
        self, original: Any, spawner: Any, benchmark_id: str, timeout: float, params_str: str
    ) -> tuple[str | None, str | None]:
        """Run a ``setup_cache``, in a fork if that may measure all cases of its benchmark."""
        benchmark = self._remaining.benchmarks[benchmark_id]
        names = [
            case_name(benchmark, params)
            for params in cases_of(benchmark)
            if not cannot_run(benchmark, params)
        ]
        if all(may_fork(benchmark, name) for name in names):
            forking, _ = self._spawners or self._make_spawners(spawner)
            return forking.create_setup_cache(benchmark_id, timeout, params_str)
        cache: tuple[str | None, str | None] = original(spawner, benchmark_id, timeout, params_str)
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
        if self._lines:
            self._save()
            self._report()

    def fail(
        self, original: Any, benchmark: dict[str, Any], stderr: str = "", errcode: int = 1
    ) -> Any:
        """Note the cases of a benchmark that failed before any of them was started.

        Returns:
            The result, in which cases that were not selected have not failed.
        """
        result = original(benchmark, stderr=stderr, errcode=errcode)
        outcome, reason = outcome_of_failure(stderr, benchmark)
        selected = set(skipping.selected_cases(self._remaining.benchmarks, benchmark))
        for index, params in enumerate(cases_of(benchmark)):
            if index in selected:
                self._note(case_name(benchmark, params), outcome, reason)
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

    def _spawner_for(
        self, benchmark: dict[str, Any], index: int, spawner: Any, profile: bool
    ) -> Any:
        """Return what runs a case: asv's spawner, or what does the same in less time."""
        forking, overlapping = self._spawners or self._make_spawners(spawner)
        is_alone = profile or cases_at_once(self._options) == 1
        names = [] if is_alone else self._overlapping_from(benchmark, index)
        overlapping.expect(names)
        if may_fork(benchmark, case_name(benchmark, cases_of(benchmark)[index])):
            return forking
        return overlapping if process_name(benchmark, index) in names else spawner

    def _make_spawners(self, spawner: Any) -> tuple[ForkingSpawner, OverlappingSpawner]:
        forking = ForkingSpawner(spawner)
        self._spawners = forking, OverlappingSpawner(spawner, cases_at_once(self._options))
        if self._record is not None:
            self._record["environment"][run_records.PROCESSES] = forking.processes
        return self._spawners

    def _overlapping_from(self, benchmark: dict[str, Any], first: int) -> list[str]:
        """Return asv's names of the cases that this round still measures and that may overlap."""
        names = []
        for index in skipping.selected_cases(self._remaining.benchmarks, benchmark):
            case = case_name(benchmark, cases_of(benchmark)[index])
            is_measured = (
                index >= first
                and case not in self._settled
                and self._calls[case] >= self._first_call(benchmark, case)
            )
            if is_measured and may_overlap(benchmark, case):
                names.append(process_name(benchmark, index))
        return names

    def _plan(self) -> dict[str, int]:
        """Return the number of rounds that each case will run in."""
        benchmarks = self._remaining.benchmarks
        plan = {}
        for benchmark in benchmarks.values():
            cases = cases_of(benchmark)
            for index in skipping.selected_cases(benchmarks, benchmark):
                case = case_name(benchmark, cases[index])
                report = self._remaining.continued.get(case)
                plan[case] = self._rounds(benchmark) if report is None else report.rounds_left
        return plan

    def _rounds(self, benchmark: dict[str, Any]) -> int:
        attributes = self._options.get("extra_params") or {}
        asked = "1" if self._options.get("quick") else attributes.get("rounds")
        rounds = int(asked or benchmark.get("rounds", 1))
        in_turn = self._options.get("run_rounds")  # of this turn, where commits are interleaved
        return rounds if in_turn is None else sum(number <= rounds for number in in_turn)

    def _first_call(self, benchmark: dict[str, Any], case: str) -> int:
        """Return how many rounds of a case are stored and not measured again."""
        report = self._remaining.continued.get(case)
        return 0 if report is None else max(0, self._rounds(benchmark) - report.rounds_left)

    def _samples(self, benchmark: dict[str, Any], index: int) -> list[float]:
        """Return the samples that are stored of a case."""
        name, params = benchmark["name"], benchmark["params"]
        if name not in self._results.get_all_result_keys():
            return []
        return self._results.get_result_samples(name, params)[index] or []

    def _stored_samples(
        self, benchmark: dict[str, Any], index: int, report: Report
    ) -> tuple[list[float], dict[str, int]]:
        """Return the samples of a case that is continued, and how many calls made one of them."""
        samples = self._samples(benchmark, index)
        stats = self._results.get_result_stats(benchmark["name"], benchmark["params"])[index]
        number = {"number": stats["number"]} if stats and "number" in stats else {}
        # A kill may have come after a round was stored and before its outcome was. Samples
        # beyond that come from a file in which git merged several runs.
        if report.samples < len(samples) <= 2 * report.samples:
            del samples[report.samples :]
        return samples, number

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

    def _add_case(
        self, benchmark: dict[str, Any], index: int, result: Any, began: Any, *, append: bool
    ) -> None:
        """Add the result of one case to asv's results, which hold those of the other cases."""
        count = len(cases_of(benchmark))
        values: list[Any] = [math.nan] * count
        samples: list[Any] = [None] * count
        numbers: list[Any] = [None] * count
        values[index], samples[index], numbers[index] = (
            result.result[0],
            result.samples[0],
            result.number[0],
        )
        self._add_result(
            self._results,
            benchmark,
            BenchmarkResult(values, samples, numbers, result.errcode, result.stderr, None),
            started_at=began,
            record_samples=True,
            append_samples=append,
            selected_idx=[index],
        )
        results_files.store_reported_values(self._results, benchmark["name"])
        self._save()

    def _note(
        self, case: str, outcome: str, reason: str, seconds: float = 0.0, **extra: int
    ) -> None:
        line: dict[str, Any] = {"case": case, "outcome": outcome, "reason": reason}
        line |= {"at": int(time.time()), "seconds": round(seconds, 2)}
        self._lines.append(line | {name: count for name, count in extra.items() if count})

    def _report(self) -> None:
        """Store the outcomes of cases whose values are stored, then tell of them."""
        lines, self._lines = self._lines, []
        if lines:
            self._append(outcomes.SUFFIX, lines)
        for line in lines:
            tell({"ran": line})

    def _save(self) -> None:
        if self._folder is None:
            return
        if not self._has_saved:  # from now on a value without an outcome is one of a killed run
            self._append(outcomes.SUFFIX, [])
        self._results.save(str(self._folder))
        if not self._has_saved and self._record is not None:
            self._append(run_records.SUFFIX, [self._record])
        self._has_saved = True

    def _append(self, suffix: str, lines: list[dict[str, Any]]) -> None:
        if self._folder is not None:
            results_files.append(
                results_files.side_file(self._results, self._folder, suffix), lines
            )


def tell(message: dict[str, Any]) -> None:
    """Write one line to the process that watches this run, if there is one."""
    progress = os.environ.get("TORCHSPEED_PROGRESS")
    if progress:
        # A watching process that has gone does not end the run.
        with contextlib.suppress(OSError), open(progress, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(message) + "\n")
