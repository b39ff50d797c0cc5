"""Reads the outcome of one case and its reason from asv's result of its process.

asv stores null for failed and for timed-out cases, NaN for skipped and for deselected ones, and no
message.
"""

from __future__ import annotations

import math
import re
from typing import Any

from asv.runner import JSON_ERROR_RETCODE
from asv.util import TIMEOUT_RETCODE

from asv_watch.asv.cases import skipped_because
from asv_watch.asv.commands import exit_in_words
from asv_watch.records.reported_value import is_finite_number

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
    return result.stderr.strip()[-_REASON_LENGTH:] or exit_in_words(result.errcode)


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
    return "failed", output[-_REASON_LENGTH:] or NOT_BUILT
