"""Finds and removes results that no page shows: of other commits, benchmarks or code."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from asv_watch.files import read_regular, write_whole
from asv_watch.records import outcomes, run_records, suite_lists
from asv_watch.records.merged_versions import merge_versions
from asv_watch.records.outcomes import remove_outcomes
from asv_watch.records.recipe import code_version
from asv_watch.records.records import Benchmark
from asv_watch.records.result_files import DamagedError, read_result_file

NOT_ON_BRANCH = "the commit is not on the branch"
NO_BENCHMARK = "no suite has this benchmark any more"
OTHER_CODE = "measured with other code of the benchmark"


@dataclass(frozen=True, slots=True)
class Unused:
    """A result that is not shown, and why."""

    path: Path
    """Result file."""
    benchmark: str
    """Empty where the whole file is meant."""
    reason: str

    def __str__(self) -> str:
        what = f"{self.benchmark} of {self.path}" if self.benchmark else str(self.path)
        return f"{what}: {self.reason}"


def find_unused(
    results: Path, commits: Collection[str], benchmarks: Mapping[str, Benchmark]
) -> Iterator[Unused]:
    """Find results that a publish leaves out; damaged files are none.

    Args:
        results: Folder of all machines' results.
        commits: Full hashes of the commits that are shown.
        benchmarks: Today's benchmarks by name.
    """
    for path in sorted(results.glob("*/*.json")):
        if path.name in {"machine.json", suite_lists.FILE_NAME}:
            continue
        try:
            content = read_result_file(path)
        except DamagedError:
            continue
        if content.commit_hash not in commits:
            yield Unused(path, "", NOT_ON_BRANCH)
            continue
        for name in content.results:
            benchmark = benchmarks.get(name)
            if benchmark is None:
                yield Unused(path, name, NO_BENCHMARK)
                continue
            try:
                version = content.row(name).version
            except DamagedError:
                continue
            if version and code_version(version) != benchmark.code_version:
                yield Unused(path, name, OTHER_CODE)


def remove(unused: Collection[Unused]) -> None:
    """Remove results with what is stored beside them.

    Raises:
        OSError: A file cannot be written or removed.
    """
    rows: dict[Path, set[str]] = {}
    for result in unused:
        if result.benchmark:
            rows.setdefault(result.path, set()).add(result.benchmark)
            continue
        for suffix in (outcomes.SUFFIX, run_records.SUFFIX, ".json"):
            result.path.with_suffix(suffix).unlink(missing_ok=True)
    for path, names in rows.items():
        stored = read_regular(path)
        try:
            content = json.loads(stored)
        except ValueError:
            content = merge_versions(stored)
        for name in names:
            del content["results"][name]
        write_whole(path, json.dumps(content).encode())
        remove_outcomes(
            path.with_suffix(outcomes.SUFFIX),
            lambda case, gone=frozenset(names): case.partition("(")[0] in gone,  # type: ignore[misc]
        )
