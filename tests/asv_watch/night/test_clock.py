"""A night on a machine whose clock jumps by years, ahead and back, while it measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asv_watch.records.git import read_commits
from asv_watch.records.loading import load_history
from asv_watch.records.records import Outcome
from tests.asv_watch.clockwork import SUITE, package
from tests.asv_watch.torchless import PUBLISHED
from tests.conftest import commit

JUMPING_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static int (*real)(clockid_t, struct timespec *);

int clock_gettime(clockid_t id, struct timespec *now) {
    static const long days[] = {0, 400, -900, 3000, -1};
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(id, now);
    if (id == CLOCK_REALTIME) {
        struct timespec steady;
        real(CLOCK_MONOTONIC, &steady);
        now->tv_sec += 86400 * days[steady.tv_sec / 2 % 5];
    }
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *stored) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (stored) *stored = exact.tv_sec;
    return exact.tv_sec;
}
"""
"""Takes the place of the C library's clock in every process: another date every two seconds."""


@pytest.fixture
def jumping_clock(tmp_path: Path) -> dict[str, str]:
    """Environment variables that give a process, and all that it starts, the jumping clock."""
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(JUMPING_CLOCK)
    subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", source, "-o", library], check=True)
    return os.environ | {"LD_PRELOAD": str(library), "HOME": str(tmp_path)}


@pytest.mark.needs("g++")
@pytest.mark.timeout(900)
@pytest.mark.fault(
    "clock that jumps",
    tried="it is set years ahead or back every two seconds of a whole night, in every process",
    holds="every commit is measured, compared and published; the next night finds all of it",
)
def test_a_night_needs_no_clock(
    make_project: Callable[..., Path], jumping_clock: dict[str, str]
) -> None:
    settings = json.dumps(PUBLISHED | {"measured_paths": ["benchmarks", "src"]})
    root = make_project(SUITE, {"asv.conf.json": settings, "src/package.py": package()})
    for number in range(2):
        commit(root, {"src/package.py": f"# {number}\n{package()}"}, f"Comment {number}")

    def pass_night() -> str:
        command = ["-m", "asv_watch.cli", "nightly", "--machine", "m", "--budget", "15min"]
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=root,
            env=jumping_clock,
            stdout=subprocess.PIPE,
            text=True,
        )
        output, _ = process.communicate()
        assert process.returncode == 0, output
        return output

    assert "3 commits and releases, 0 of them still to be measured" in pass_night()
    history = load_history(root / "results", read_commits(root))
    assert history.problems == ()
    outcomes = [run.outcome for series in history.series for run in series.runs.values()]
    assert outcomes == [Outcome.OK] * 6
    [compared] = history.comparisons["m"]
    assert compared.header.after.commit == history.commits[-1].hash
    assert len(compared.ratios) == 2
    assert (root / "html/index.html").is_file()
    again = pass_night()
    assert "nothing is left to be done tonight" in again
    assert "tonight:" not in again
