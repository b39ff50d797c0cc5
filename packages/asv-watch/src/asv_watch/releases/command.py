"""Lists and measures releases of a requirement."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from asv_watch.answers import Answer, Difference, JsonFile, measured_difference, write_answer
from asv_watch.asv.packages import make_environment
from asv_watch.asv.selection import cases_of_releases, matching
from asv_watch.asv.settings import NEWEST, Configuration, EnvironmentSpec, read_configuration
from asv_watch.compare.report import differences_of, report
from asv_watch.comparison import DAY, Outcome, Ratio
from asv_watch.engine.cases import (
    Benchmarks,
    choose_cases,
    list_benchmarks,
    list_benchmarks_in,
)
from asv_watch.engine.sides import Side, side
from asv_watch.engine.workplace import Workplace, check_room, open_workplace
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.release_history import (
    ReleaseStep,
    failed_releases,
)
from asv_watch.machine.facts import machine_name
from asv_watch.options import Cases, Machine
from asv_watch.records.loading import with_versions
from asv_watch.records.notes import read_notes
from asv_watch.records.store import read_record
from asv_watch.releases.closing import closing_pairs, closing_versions
from asv_watch.releases.measure import ReleasePair, measure_releases, release_pairs
from asv_watch.text import quantities
from asv_watch.text.markdown import table
from asv_watch.text.quantities import day
from asv_watch.versions.commits import versions_of
from asv_watch.versions.git import read_commits

_ACTIONS = ("list", "measure", "findings")


def releases(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REQUIREMENT] [ACTION] [RELEASE]",
            help="A requirement, such as numpy, if asv.conf.json lists releases of several; list: "
            "show which releases are listed, measured and missing; measure: "
            "compare each release, or RELEASE, with its predecessor; findings: show each "
            "difference and the days that measured it.",
        ),
    ] = None,
    *,
    against: Annotated[
        str,
        typer.Option(
            metavar="RELEASE",
            help="Compare with this release, not the predecessor; RELEASE itself shows the noise.",
        ),
    ] = "",
    commit: Annotated[
        str, typer.Option(help="measure: the commit whose package both sides use.")
    ] = "HEAD",
    again: Annotated[
        bool, typer.Option("--again", help="measure: repeat comparisons that are stored already.")
    ] = False,
    json_file: JsonFile = "",
    cases: Cases = "",
    machine: Machine = "",
) -> ExitStatus:
    """List or compare the releases of a requirement, or print what they changed.

    Raises:
        WatchError: asv.conf.json cannot be read, or lists releases of several requirements.
    """
    words = words or []
    requirement = words.pop(0) if words and words[0] not in _ACTIONS else ""
    action = words.pop(0) if words else "list"
    release = words.pop(0) if words else ""
    if words or action not in _ACTIONS:
        raise typer.BadParameter(
            f"{(words or [action])[0]!r} is none of {', '.join(_ACTIONS)}, after the requirement"
        )
    if action == "list" and release:
        raise typer.BadParameter("list shows all releases; leave the release out")
    if action == "list" and json_file:
        raise typer.BadParameter("list writes no JSON; --json is for measure and findings")
    if action == "measure":
        return _measure(
            requirement,
            release=release,
            against=against,
            commit=commit,
            machine=machine,
            cases=cases,
            again=again,
            json_file=json_file,
        )
    configuration = read_configuration(Path.cwd())
    requirement = requirement or the_requirement(configuration)
    name = machine_name(machine)
    if action == "list":
        _list(configuration, requirement, name)
    else:
        pairs = _pairs(configuration, requirement, name, release=release, against=against)
        _print_findings(configuration, requirement, name, pairs)
        write_answer(_answer(requirement, name, pairs), json_file)
    return ExitStatus.DONE


def _list(configuration: Configuration, requirement: str, name: str) -> None:
    comparisons, _ = read_record(configuration.results, name)
    failures = failed_releases(comparisons, requirement)
    failed = {release: f"failed: {reason}" for release, reason in failures.items()}
    listed = configuration.releases.get(requirement, ())
    newest_first = release_pairs(requirement, listed, comparisons)
    pairs = {pair.after.version: pair for pair in newest_first}
    companions = [
        name
        for name in (listed[0].requirements if listed else ())
        if name != requirement and len({spec.requirements.get(name) for spec in listed}) > 1
    ]
    rows = []
    for release in listed:
        step = pairs[release.version].stored if release.version in pairs else None
        rows.append(
            (
                release.version,
                *(release.requirements.get(companion, "") for companion in companions),
                _compared(step, failed.get(release.release, "") or release.lacks_python),
            )
        )
    header = (requirement, *companions, "against its predecessor")
    print(
        f"on {name}:\n{table(header, rows)}" if rows else f"no release of {requirement} is listed"
    )
    closing = closing_pairs(requirement, listed, comparisons)
    unchecked = sum(not pair.stored.commits for pair in closing)
    if unchecked:
        newest = listed[0].version
        print(
            f"{unchecked} of {quantities.counted(len(closing), 'older release')} were not "
            f"compared with {newest}, so nothing checks the steps between them: "
            f"asv-watch releases {requirement} measure --against {newest}"
        )
    commits = read_commits(configuration.repository, configuration.branch)
    name_of = versions_of(with_versions(commits, read_notes(configuration.results, commits)[0]))
    with_release = configuration.environments[0].release
    versions = closing_versions(commits, name_of, comparisons, with_release)
    missing = [pair for pair in versions if not pair.cases]
    if missing:
        oldest, latest = (name_of[commit.hash] for commit in missing[-1][:2])
        print(
            f"{len(missing)} of {quantities.counted(len(versions), 'older version')} were not "
            f"compared with {latest}: asv-watch compare --before {oldest} --after {latest}"
        )


def _measure(
    requirement: str,
    *,
    release: str,
    against: str,
    commit: str,
    machine: str,
    cases: str,
    again: bool,
    json_file: str,
) -> ExitStatus:
    """Compare each release with its predecessor, and store what was missing.

    By default the cases of the short set that ``release_cases`` matches are measured, and those
    that ``night_cases`` matches.

    Raises:
        WatchError: the checkout cannot be measured, or there is no such pair of releases.
    """
    failed, compared = False, 0
    found: list[Difference] = []
    root, job = Path.cwd(), "releases measure"
    with open_workplace(root, job, release=NEWEST, machine=machine) as workplace:
        configuration = workplace.configuration
        selection = matching(cases, otherwise=cases_of_releases(workplace.declared))
        requirement = requirement or the_requirement(configuration)
        listed_releases = configuration.releases.get(requirement, ())
        check_room(configuration, listed_releases[:2])
        pairs = _pairs(
            configuration, requirement, workplace.machine, release=release, against=against
        )
        if not pairs:
            raise WatchError(
                f"{f'{requirement} {release}' if release else f'the newest {requirement}'} has "
                f"{f'no {against} to compare with' if against else 'no predecessor'} "
                'under "releases" in asv.conf.json; `asv-watch releases '
                f"{requirement}` lists what is there"
            )
        for reason in dict.fromkeys(filter(None, (pair.lacks_python for pair in pairs))):
            print(reason, flush=True)
        pairs = tuple(pair for pair in pairs if not pair.lacks_python)
        if not pairs:
            raise WatchError("no two of these releases can be installed with this Python")
        package = side(workplace, commit)
        listed = _list_benchmarks(workplace, package, pairs[0].after)
        chosen = choose_cases(listed, selection, workplace.declared, "time", "memory", "count")
        for pair, result in measure_releases(workplace, pairs, package, chosen, again=again):
            compared += 1
            if isinstance(result, WatchError):
                failed = True
                print(f"{pair.after.release} against {pair.before.version}: {result}", flush=True)
                continue
            failed |= bool(result.failures)
            sides = str(pair.before.release), str(pair.after.release)
            in_pair = differences_of(result, workplace.machine, sides)
            print(f"\n{report(result, in_pair, *sides)}\n", flush=True)
            found += in_pair
    write_answer(Answer("releases", differences=found), json_file)
    if not compared:
        print("nothing is missing: each release is compared already")
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def _list_benchmarks(workplace: Workplace, package: Side, release: EnvironmentSpec) -> Benchmarks:
    """List benchmarks in asv's environment, or in that of a release if asv made none."""
    if not workplace.environments[0].folder.exists():
        with contextlib.suppress(WatchError):  # measuring it says why
            make_environment(workplace.root, workplace.configuration.repository, release)
            in_release = dataclasses.replace(package, environment=release)
            return list_benchmarks_in(in_release, workplace.declared)
    return list_benchmarks(workplace, [package]).benchmarks


def _answer(requirement: str, machine: str, pairs: Sequence[ReleasePair]) -> Answer:
    found = []
    for pair in pairs:
        for finding in pair.stored.findings:
            difference = measured_difference(finding, machine)
            difference.reason = f"{requirement} {pair.stored.after} against {pair.stored.before}"
            found.append(difference)
    return Answer(command="releases", differences=found)


def _print_findings(
    configuration: Configuration, requirement: str, name: str, pairs: Sequence[ReleasePair]
) -> None:
    parts = [_findings(requirement, pair.stored) for pair in pairs if pair.stored.ratios]
    if parts:
        print("\n\n".join(parts))
        return
    machines = sorted({path.parent.name for path in configuration.results.glob("*/*.jsonl")})
    others = [
        other
        for other in machines
        if any(pair.stored.ratios for pair in _pairs(configuration, requirement, other))
    ]
    hint = f"; give --machine {' or '.join(others)}" if others else ""
    print(f"no such releases were compared on {name}{hint}")


def the_requirement(configuration: Configuration) -> str:
    """Return the requirement whose releases asv.conf.json lists.

    Raises:
        WatchError: it lists none, or those of several.
    """
    listed = list(configuration.releases)
    if len(listed) == 1:
        return listed[0]
    if listed:
        raise WatchError(
            f"asv.conf.json lists releases of {', '.join(listed)}; name one, such as "
            f"`asv-watch releases {listed[0]}`"
        )
    raise WatchError(
        "asv.conf.json lists no releases; add those to compare, the newest first: "
        '"releases": {"numpy": ["2.4.0", "2.3.5"]}'
    )


def _pairs(
    configuration: Configuration,
    requirement: str,
    machine: str,
    *,
    release: str = "",
    against: str = "",
) -> tuple[ReleasePair, ...]:
    comparisons, _ = read_record(configuration.results, machine)
    releases = configuration.releases.get(requirement, ())
    return release_pairs(requirement, releases, comparisons, release=release, against=against)


def _measured(ratio: Ratio) -> str:
    return quantities.measured(ratio.ratio, ratio.interval, ratio.metric, ratio.clock)


def _findings(requirement: str, step: ReleaseStep) -> str:
    """Return Markdown: a row for each case that differs between two releases."""
    findings = step.findings
    heading = f"{requirement} {step.after} against {step.before}: "
    if not findings:
        return f"{heading}no difference in {len(step.ratios)} cases"
    rows = [
        (
            f"`{finding.case}`",
            quantities.days(finding.days_showing, finding.days),
            quantities.quantity(finding.before, finding.unit),
            _measured(finding),
            "; ".join(
                f"{day(ratio.at)}: {_measured(ratio)}"
                for ratio in {ratio.at // DAY: ratio for ratio in finding.sittings}.values()
            ),
        )
        for finding in findings
    ]
    head = ("case", "shown on", "before", "change (99 % interval)", "by itself, each day")
    return (
        f"{heading}{len(findings)} of {len(step.ratios)} cases differ\n\n{table(head, rows)}\n\n"
        f"    asv-watch releases {requirement} measure {step.after} --against {step.before} "
        "--again"
    )


def _compared(step: ReleaseStep | None, reason: str) -> str:
    """Return how many cases of two releases were compared, and when; or why none could be."""
    if reason and (step is None or not step.commits):
        return reason
    if step is None:
        return "oldest"
    if not step.commits:
        return "missing"
    first, *later = sorted(step.days)
    again = f", again {day(later[-1] * DAY)}" if later else ""
    count = sum(outcome is not Outcome.SKIPPED for outcome, _ in step.unmeasured.values())
    failures = f", {count} failed" if count else ""
    return f"{len(step.commits)} cases{failures}, {day(first * DAY)}{again}"
