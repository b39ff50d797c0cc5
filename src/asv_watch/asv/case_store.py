"""Stores each case of an ``asv run``, with its outcome, as soon as its process has ended.

asv saves once, after the last round of the last benchmark. It stores null for failed and for
timed-out cases, NaN for skipped and for deselected ones, and no message. Here each case is added
to asv's ``Results`` and saved, then its outcome is appended to the side file, and only then the
watching process hears of it. A run that ends early loses the case in progress at most, and a
resumed one continues with the rounds that are missing.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any

from asv.runner import JSON_ERROR_RETCODE, BenchmarkResult
from asv.util import TIMEOUT_RETCODE

from asv_watch.asv import results_files
from asv_watch.asv.selection import cases_of, skipped_because
from asv_watch.machine.facts import machine_state
from asv_watch.records.reported_value import is_finite_number
from asv_watch.records.side_files import OUTCOMES, RECORDS, Report
from asv_watch.signals import exit_in_words

_SKIPPED = re.compile(r"asv: skipped: \w+\((?P<reason>.*)\)\s*$", re.MULTILINE)
_REASON_LENGTH = 2000
"""Characters kept of a failure's output: the end of it, where the exception is."""
_CACHE_FAILED = "asv: setup_cache failed\n\n"
"""How asv begins the message of a case whose ``setup_cache`` failed."""
_CACHE_TIMED_OUT = "(exit status {})"
_NO_RESULT = (
    "the benchmark ended its process before it gave a value (os._exit, sys.exit or SystemExit)"
)
NOT_BUILT = "this commit could not be built and installed; asv's output says why"


def outcome_of_case(result: Any, benchmark: dict[str, Any]) -> tuple[str, str]:
    """Return outcome and reason of a case that ran in a process."""
    value = result.result[0]
    if result.errcode == TIMEOUT_RETCODE:
        return "timed out", f"stopped after {benchmark['timeout']} s"
    if value is None:
        return "failed", _reason(result)
    if isinstance(value, float) and math.isnan(value):
        message = _SKIPPED.search(result.stderr)
        return "skipped", message["reason"].strip("'\"") if message else skipped_because(benchmark)
    if result.samples[0] is not None:
        values = result.samples[0]
    elif isinstance(value, bool):
        return "failed", f"the benchmark returned {value!r}, not a number"
    else:
        values = [value]
    if not values or not all(map(is_finite_number, values)):
        return "failed", f"the benchmark returned {str(value)[:80]!r}, not a finite number"
    return "ok", ""


def _reason(result: Any) -> str:
    """Say why a case gave no value: the end of what it printed, where the exception is."""
    if result.errcode == JSON_ERROR_RETCODE:
        return _NO_RESULT
    return _end_of(result.stderr) or exit_in_words(result.errcode)


def _end_of(output: str) -> str:
    """Return the end of a failure's output, with the paths of the checkout relative to it."""
    return output.replace(f"{Path.cwd()}{os.sep}", "").strip()[-_REASON_LENGTH:]


def outcome_of_failure(stderr: str, benchmark: dict[str, Any]) -> tuple[str, str]:
    """Return outcome and reason of a benchmark that failed before any case of it was started.

    Args:
        stderr: What asv says: the output of ``setup_cache``, or nothing if the build failed.
        benchmark: Its entry in asv's list.
    """
    output = stderr.removeprefix(_CACHE_FAILED).strip()
    if stderr.startswith(_CACHE_FAILED) and output.endswith(
        _CACHE_TIMED_OUT.format(TIMEOUT_RETCODE)
    ):
        limit = benchmark.get("setup_cache_timeout") or benchmark["timeout"]
        return "timed out", f"setup_cache was stopped after {limit:g} s"
    return "failed", _end_of(output) or NOT_BUILT


class CaseStore:
    """The result file of a run and its side files.

    Attributes:
        record: Where the run measures (`asv_watch.records.side_files`); ``None`` if it
            measures nothing.
    """

    def __init__(self, results: Any, add_result: Any, record: dict[str, Any] | None) -> None:
        self._results = results
        self._folder = results_files.folder_of(results)
        self._add_result = add_result
        self.record = record
        self._has_saved = False
        self._lines: list[dict[str, Any]] = []
        """Outcomes that are not in the side file yet."""

    def add(
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
        self.save()

    def samples(self, benchmark: dict[str, Any], index: int) -> list[float]:
        """Return the samples that are stored of a case."""
        name, params = benchmark["name"], benchmark["params"]
        if name not in self._results.get_all_result_keys():
            return []
        return self._results.get_result_samples(name, params)[index] or []

    def reported_samples(
        self, benchmark: dict[str, Any], index: int, report: Report
    ) -> tuple[list[float], dict[str, int]]:
        """Return the samples of a case that is continued, and how many calls made one of them."""
        samples = self.samples(benchmark, index)
        stats = self._results.get_result_stats(benchmark["name"], benchmark["params"])[index]
        number = {"number": stats["number"]} if stats and "number" in stats else {}
        # A kill may have come after a round was stored and before its outcome was. Samples
        # beyond that come from a file in which git merged several runs.
        if report.samples < len(samples) <= 2 * report.samples:
            del samples[report.samples :]
        return samples, number

    def note(
        self, case: str, outcome: str, reason: str, seconds: float = 0.0, **extra: int
    ) -> None:
        """Take the outcome of a round of a case, for `report`."""
        line: dict[str, Any] = {"case": case, "outcome": outcome, "reason": reason}
        line |= {"at": int(time.time()), "seconds": round(seconds, 2)}
        self._lines.append(line | {name: count for name, count in extra.items() if count})

    @property
    def has_unreported(self) -> bool:
        """Whether there are outcomes that `report` has not stored."""
        return bool(self._lines)

    def report(self) -> None:
        """Store the outcomes of cases whose values are stored, then tell the watching process."""
        lines, self._lines = self._lines, []
        if lines:
            self._append(OUTCOMES, lines)
        for line in lines:
            tell({"ran": line})

    def save(self) -> None:
        """Write asv's results to their file; the first time, also the record of the run."""
        if self._folder is None:
            return
        if not self._has_saved:  # from now on a value without an outcome is one of a killed run
            self._append(OUTCOMES, [])
        self._results.save(str(self._folder))
        if not self._has_saved and self.record is not None:
            self._append(RECORDS, [self.record])
        self._has_saved = True

    def end(self) -> None:
        """Record the state of the machine after the run."""
        if self.record is not None:
            after = {"until": int(time.time()), "after": machine_state()}
            self._append(RECORDS, [self.record | after])

    def _append(self, suffix: str, lines: list[dict[str, Any]]) -> None:
        if self._folder is not None:
            results_files.append(
                results_files.side_file(self._results, self._folder, suffix), lines
            )


def tell(message: dict[str, Any]) -> None:
    """Tell the process that watches the run, by a line of JSON in ``ASV_WATCH_PROGRESS``."""
    progress = os.environ.get("ASV_WATCH_PROGRESS")
    if progress:
        # A watching process that has gone does not end the run.
        with contextlib.suppress(OSError), open(progress, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(message) + "\n")
