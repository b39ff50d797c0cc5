"""Stores asv's results so that a kill, a full disk or a damaged file loses nothing.

asv writes a file in place, and it never repairs one. Here every file is written aside and then
renamed, a damaged result file is set aside and measured again, and the side files of a result
file are removed and renamed with it.

asv also rewrites ``~/.asv-machine.json`` in every run. All checkouts share that file, and two runs
at once can damage it, so it is only asked for the name that a person may have given the machine.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asv.util
from asv.console import log

from asv_watch.files import make_folder, write_whole
from asv_watch.machine.facts import check_machine_name, describe
from asv_watch.records import suite_lists
from asv_watch.records.git import ask_git
from asv_watch.records.json_lines import append_lines
from asv_watch.records.reported_value import is_finite_number, report_value
from asv_watch.records.result_files import merge_versions
from asv_watch.records.side_files import OUTCOMES, RECORDS

_FOLDER = "asv_watch_folder"


def write_json(
    path: str, data: Any, api_version: int | None = None, compact: bool = False
) -> None:
    """Write JSON as ``asv.util.write_json`` does, and never half a file."""
    if api_version is not None:
        data = {**data, "version": api_version}
    text = json.dumps(data) if compact else json.dumps(data, indent=4, sort_keys=True)
    target = Path(path).absolute()
    with _refusing(target):
        make_folder(target.parent)
        write_whole(target, text.encode())


def loading_json(original: Any) -> Any:
    """Replace ``asv.util.load_json``: versions of a result file that git merged are one."""

    def load_json(path: str, api_version: int | None = None, js_comments: bool = False) -> Any:
        try:
            return original(path, api_version, js_comments)
        except asv.util.UserError:
            try:
                content = merge_versions(Path(path).read_bytes())
            except (OSError, ValueError, RecursionError):
                content = {}
            if api_version is None or content.pop("version", None) != api_version:
                raise
            return content

    return load_json


def save_benchmarks(self: Any) -> None:
    """Store what asv found in the suites, as those of this machine; for ``Benchmarks.save``."""
    results, suites = Path(self._conf.results_dir), Path(self._conf.benchmark_dir).absolute()
    committed = ask_git(suites, "log", "-1", "--format=%ct", "--", ".")
    with _refusing(results / suite_lists.FILE_NAME):
        suite_lists.store_list(results, _this_machine(), self._all_benchmarks, int(committed or 0))


def append(path: Path, lines: list[dict[str, Any]]) -> None:
    """Add lines to a side file."""
    with _refusing(path):
        append_lines(path, lines)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise asv.util.UserError(
            f"{path} cannot be written ({error.strerror}); make room, or make it writable, and "
            "run the same again: what was stored before is still there"
        ) from error


def folder_of(results: Any) -> Path | None:
    """Folder in which asv keeps these results; ``None`` if they are not to be stored."""
    folder: Path | None = getattr(results, _FOLDER, None)
    return folder


def side_file(results: Any, folder: Path, suffix: str) -> Path:
    """Path of a side file of the result file."""
    return Path(folder, results._filename).with_suffix(suffix)


def loading_values(original: Any) -> Any:
    """Replace ``Results.load``: a file that holds medians is read with the reported values."""

    def load(cls: Any, path: str, machine_name: str | None = None) -> Any:
        results = original(cls, path, machine_name)
        for benchmark, samples in results._samples.items():
            if samples and results._results[benchmark] and results._stats[benchmark]:
                store_reported_values(results, benchmark)
        return results

    return load


def loading(original: Any) -> Any:
    """Replace ``Results.load_data``: a damaged file is set aside and measured again."""

    def load_data(self: Any, result_dir: str) -> None:
        setattr(self, _FOLDER, Path(result_dir))
        path = Path(result_dir, self._filename)
        try:
            original(self, result_dir)
        except (asv.util.UserError, ValueError, LookupError, TypeError, AttributeError) as error:
            aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}")
            path.rename(aside)
            log.warning(f"{path} is damaged ({error}); it is now {aside.name}, and measured again")

    return load_data


def removing_file(original: Any) -> Any:
    """Replace ``Results.rm``: the side files of the result file are removed as well."""

    def rm(self: Any, result_dir: str) -> None:
        original(self, result_dir)
        for suffix in (OUTCOMES, RECORDS):
            side_file(self, Path(result_dir), suffix).unlink(missing_ok=True)

    return rm


def store_reported_values(results: Any, benchmark: str) -> None:
    """Put the reported value of each case's samples in the place of asv's median.

    With it come the interval and the quartiles that `asv_watch.records.reported_value`
    gives. Where there are too few samples for an interval, the wide one that asv estimates
    stays.
    """
    values, stats = results._results[benchmark], results._stats[benchmark]
    for index, samples in enumerate(results._samples[benchmark] or ()):
        if not samples or not all(map(is_finite_number, samples)):
            continue
        reported = report_value(samples)
        values[index] = reported.value
        described = stats[index] = dict(stats[index] or {})
        described["q_25"], described["q_75"] = reported.quartiles
        if reported.interval is not None:
            described["ci_99_a"], described["ci_99_b"] = reported.interval


_loaded: list[str] = []
"""Names of the machines that asv loaded in this process, oldest first."""


def _this_machine() -> str:
    """Return the machine that asv loaded last, which is the one that it measures for."""
    return _loaded[-1]


def loading_machine(original: Any) -> Any:
    """Replace ``MachineCollection.load``: facts are read from this machine now."""

    def load(machine_name: str, _path: str | None = None) -> dict[str, str]:
        try:
            registered = original(machine_name, _path)["machine"]
        except (asv.util.UserError, LookupError, TypeError, ValueError, OSError):
            registered = machine_name
        check_machine_name(registered)
        _loaded.append(registered)
        return {"machine": registered, **describe()}

    return load


def save_machine(
    machine_name: str, machine_info: dict[str, str], _path: str | None = None
) -> None:
    """Write nothing, in the place of ``MachineCollection.save``: all checkouts share its file."""
