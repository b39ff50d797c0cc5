"""Lists, adds and measures torch releases."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import geometric_mean

from asv_watch.asv.release_list import add_release
from asv_watch.asv.selection import SHORT, matching
from asv_watch.asv.settings import Configuration, Pair, read_configuration
from asv_watch.checkout import preflight
from asv_watch.checkout.workplace import Workplace, open_workplace
from asv_watch.compare import report as compare_report
from asv_watch.compare.measure import Compared
from asv_watch.errors import WatchError
from asv_watch.exit_status import ExitStatus
from asv_watch.interleave.cases import (
    Benchmarks,
    list_benchmarks,
    list_benchmarks_in,
    timed_cases,
    value_cases,
)
from asv_watch.interleave.sides import Side, side
from asv_watch.judge.release_findings import release_findings
from asv_watch.judge.release_history import ReleaseStep, release_histories
from asv_watch.judge.release_values import value_changes
from asv_watch.machine.description import default_name
from asv_watch.machine.lock import exclusive_run
from asv_watch.markdown import table
from asv_watch.records.comparisons import StoredComparison, read_comparisons
from asv_watch.records.release_order import is_development, release_order
from asv_watch.records.release_values import FILE_NAME as VALUES
from asv_watch.records.release_values import ReleaseValue, read_release_values
from asv_watch.records.releases import TriedRelease, read_releases
from asv_watch.releases import environments, package_index
from asv_watch.releases.measure import ReleasePair, measure_releases, release_pairs
from asv_watch.site.failures import exception_line
from asv_watch.statistics.rule import Verdict

NIGHTLY = "nightly"
"""Names the newest development build of torch where a release is named."""
_MIB = 1024**2


def list_releases(root: Path, *, machine: str) -> ExitStatus:
    """Print the pinned releases with what was measured of each, and those that are not pinned.

    Args:
        root: the checkout.
        machine: whose results; the host's if empty.

    Raises:
        WatchError: asv.conf.json cannot be read.
    """
    configuration = read_configuration(root)
    name = machine or default_name()
    tried, _ = read_releases(configuration.results, name)
    pairs = _pairs(configuration, name)
    compared = {pair.after.torch: _compared(pair.stored) for pair in pairs}
    predecessors = {pair.after.torch: pair.before.torch for pair in pairs}
    values, _ = read_release_values(configuration.results / name / VALUES)
    rows = []
    for release in configuration.releases:
        against = compared.get(release.torch, "oldest")
        of_import = _import_cells(tried.get(release.torch))
        of_values = _value_cells(values, predecessors.get(release.torch, ""), release.torch)
        rows.append((release.torch, release.torchvision, against, *of_import, *of_values))
    header = (
        *("torch", "torchvision", "against its predecessor", "import, CPU s", "peak, MiB"),
        *("memory / its predecessor's", "counts changed"),
    )
    print(f"on {name}:\n{table(header, rows)}")
    print(_published(configuration))
    return ExitStatus.DONE


def add(root: Path, *, torch: str, torchvision: str) -> ExitStatus:
    """Install a release with its torchvision, use both, and pin them in asv.conf.json.

    Args:
        root: the checkout.
        torch: release to add.
        torchvision: its release of torchvision; asked of the package index if empty.

    Raises:
        WatchError: the pair cannot be installed or does not fit; nothing is pinned then.
    """
    configuration = read_configuration(root)
    with exclusive_run(configuration.environments, "releases add"):
        vision = torchvision or package_index.matching_torchvision(torch, configuration.python)
        folder = root / ".asv" / "releases" / torch
        pair = Pair(torch, vision, "", folder, configuration.pairs[0].variables)
        preflight.check_room(configuration, (pair,))
        print(f"trying {pair}", flush=True)
        try:
            tried = environments.try_release(pair, configuration.python)
        finally:
            environments.remove_environment(pair)
        if tried.failed:
            raise WatchError(
                f"{tried.failed}; nothing was pinned, "
                "try another release of torchvision with --torchvision"
            )
        print(f"added {add_release(root, torch, vision)} to asv.conf.json")
    return ExitStatus.DONE


def measure(
    root: Path, *, release: str, against: str, commit: str, machine: str, cases: str, again: bool
) -> ExitStatus:
    """Compare each release with its predecessor where that is missing; store the results.

    Args:
        root: the checkout.
        release: the only release to compare; all if empty; `NIGHTLY` for the newest development
            build that the package index offers.
        against: the release to compare with instead of each one's predecessor; ``release`` to
            measure the noise of the method.
        commit: whose package runs on both sides.
        machine: name of this machine; the host's if empty.
        cases: regular expression of cases; if empty, those of the short set that
            ``release_cases`` in asv.conf.json matches.
        again: time what is stored once more.

    Raises:
        WatchError: the checkout cannot be measured, or there is no such pair of releases.
    """
    failed, compared = False, 0
    with open_workplace(root, "releases measure", torch="newest", machine=machine) as place:
        preflight.check_room(place.configuration, place.configuration.releases[:2])
        configuration = place.configuration
        listed_cases = matching(configuration.release_cases, otherwise=SHORT)
        selection = matching(cases, otherwise=dataclasses.replace(listed_cases, short=True))
        if release == NIGHTLY and configuration.releases:
            newest = configuration.releases[0]
            build = package_index.development_build(newest.torch, configuration.python)
            releases = (newest.of_release(*build), *configuration.releases)
            configuration = dataclasses.replace(configuration, releases=releases)
            release = build[0]
        pairs = _pairs(configuration, place.machine, release=release, against=against)
        if not pairs:
            raise WatchError(
                f"{f'torch {release}' if release else 'the newest release'} has "
                f"{f'no torch {against} to compare with' if against else 'no predecessor'} "
                'under "releases" in asv.conf.json; `asv-watch releases` lists what is there, '
                "and `asv-watch releases add RELEASE` adds one"
            )
        package = side(place, commit)
        listed = _list_benchmarks(place, package, pairs[0].after)
        values = value_cases(listed, selection)
        times = timed_cases(listed, selection, needed=not values)
        for pair, result in measure_releases(place, pairs, package, times, values, again=again):
            compared += 1
            old, new = f"torch {pair.before.torch}", f"torch {pair.after.torch}"
            if isinstance(result, Compared):
                failed |= result.failed
                print(f"\n{compare_report.report(result, old, new)}\n", flush=True)
            elif isinstance(result, WatchError):
                failed = True
                print(f"{new} against {old}: {result}", flush=True)
            else:
                failures = [value for value in result if value.failed]
                failed |= bool(failures)
                for value in failures:
                    reason = exception_line(value.failed)
                    print(f"torch {value.torch}: {value.case} failed: {reason}", flush=True)
    if not compared:
        print("nothing is missing: each release is compared already")
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def _list_benchmarks(place: Workplace, package: Side, release: Pair) -> Benchmarks:
    """List benchmarks by an environment of asv's, or else by that of a release to be measured."""
    if not place.pairs[0].folder.exists():
        with contextlib.suppress(WatchError):  # measuring it says why
            environments.make_environment(release, place.configuration.python)
            in_release = dataclasses.replace(package, pair=release)
            return list_benchmarks_in(in_release, place.configuration.suites)
    return list_benchmarks(place, place.pairs)


def list_findings(root: Path, *, release: str, against: str, machine: str) -> ExitStatus:
    """Print every difference between releases, and whether another day shows it.

    Args:
        root: the checkout.
        release: the only release whose differences are printed; all if empty; `NIGHTLY` for the
            development build that was compared, until a release follows it.
        against: the release compared with instead of each one's predecessor.
        machine: whose results; the host's if empty.

    Raises:
        WatchError: asv.conf.json cannot be read.
    """
    configuration = read_configuration(root)
    name = machine or default_name()
    if release == NIGHTLY:
        comparisons = {name: _comparisons(configuration, name)}
        steps = [
            step
            for history in release_histories(comparisons)
            for step in history.steps
            if step.after == history.development and against in {"", step.before}
        ]
    else:
        pairs = _pairs(configuration, name, release=release, against=against)
        steps = [pair.stored for pair in pairs]
    parts = [_findings(step) for step in steps if step.ratios]
    print("\n\n".join(parts) or f"no such releases were compared on {name}")
    return ExitStatus.DONE


def _pairs(
    configuration: Configuration, machine: str, *, release: str = "", against: str = ""
) -> tuple[ReleasePair, ...]:
    comparisons = _comparisons(configuration, machine)
    return release_pairs(configuration.releases, comparisons, release=release, against=against)


def _comparisons(configuration: Configuration, machine: str) -> list[StoredComparison]:
    comparisons, _ = read_comparisons(configuration.results)
    return [stored for stored in comparisons if stored.header.machine == machine]


def _findings(step: ReleaseStep) -> str:
    """Return Markdown: a row for each case that differs between two releases."""
    findings = release_findings(step)
    heading = f"torch {step.after} against {step.before}: "
    if not findings:
        return f"{heading}no difference in {len(step.ratios)} cases"
    rows = [
        (
            f"`{finding.case}`",
            finding.state.value,
            f"{finding.newest.before_s * 1e3:.4g} ms",
            "; ".join(
                f"{_day(ratio.at)}: {ratio.ratio:.3f} "
                f"[{ratio.interval[0]:.3f}, {ratio.interval[1]:.3f}]"
                for ratio in finding.days
            ),
        )
        for finding in findings
    ]
    head = ("case", "state", "before", "ratio and 99 % interval of each day")
    sides = NIGHTLY if is_development(step.after) else f"{step.after} --against {step.before}"
    return (
        f"{heading}{len(findings)} of {len(step.ratios)} cases differ\n\n{table(head, rows)}\n\n"
        f"    asv-watch releases measure {sides} --again"
    )


def _compared(step: ReleaseStep) -> str:
    """Return how many cases of two releases were compared, and when."""
    if not step.commits:
        return "missing"
    first, *later = sorted(step.days)
    again = f", again {_day(later[-1] * 86_400)}" if later else ""
    return f"{len(step.commits)} cases, {_day(first * 86_400)}{again}"


def _day(at: int) -> str:
    """Return the day (UTC) of a moment in seconds since the epoch."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _import_cells(release: TriedRelease | None) -> tuple[str, str]:
    if release is None:
        return "", ""
    if release.failed:
        return f"failed: {release.failed}", ""
    best = min(release.import_s)
    return f"{best:.2f}", f"{min(release.import_peak_bytes) / _MIB:.0f}"


def _value_cells(values: Sequence[ReleaseValue], before: str, after: str) -> tuple[str, str]:
    """Return the mean ratio of peak memories, and how many exact counts changed or failed."""
    changes = value_changes(values, before, after).values()
    ratios = [change.ratio for change in changes if not change.exact and change.ratio]
    counts = [change.verdict is not Verdict.SAME for change in changes if change.exact]
    newest = {value.case: value for value in values if value.torch == after}
    failed = sum(bool(value.failed) for value in newest.values())
    memory = f"{geometric_mean(ratios):.3f} (of {len(ratios)})" if ratios else "missing"
    changed = f"{sum(counts)} of {len(counts)}" if counts else "missing"
    return memory, f"{changed}, {failed} failed" if failed else changed


def _published(configuration: Configuration) -> str:
    """Return what the index offers beyond the newest pinned release, as far as it answers."""
    try:
        published = package_index.published_versions(configuration.python)
    except WatchError as error:
        return f"newly published: unknown ({error})"
    pinned = {release.torch for release in configuration.releases}
    newest = max(map(release_order, pinned), default=release_order(""))
    newer = [release for release in published.releases if release_order(release) > newest]
    builds = [build for build in published.development if release_order(build) > newest]
    return (
        f"newest development build: {builds[0] if builds else 'none is offered'}\n"
        f"newly published: {', '.join(newer) if newer else 'none'}"
    )
