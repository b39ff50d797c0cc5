"""Lists and measures releases of a requirement."""

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import replace

from asv_watch.answers import Answer, Difference, JsonFile, measured_difference, write_answer
from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.asv.settings import NEWEST, Configuration, EnvironmentSpec, read_configuration
from asv_watch.compare.report import differences_of, report
from asv_watch.comparison import DAY, Outcome
from asv_watch.engine import cases as suites
from asv_watch.engine.workplace import Side, Workplace, open_workplace, side
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.judge.release_history import ReleaseStep, failed_releases
from asv_watch.machine.facts import machine_name
from asv_watch.options import Cases, Machine
from asv_watch.records.store import check_machine, read_record
from asv_watch.releases.measure import ReleasePair, measure_releases, release_pairs
from asv_watch.text import quantities
from asv_watch.text.terminal import table

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
    again: Annotated[
        bool, typer.Option("--again", help="measure: repeat comparisons that are stored already.")
    ] = False,
    json_file: JsonFile = "",
    cases: Cases = "",
    machine: Machine = "",
) -> ExitStatus:
    """List or compare the releases of a requirement, or print what they changed.

    Raises:
        WatchError: asv.conf.json cannot be read, or lists releases of several requirements, or
            the machine whose results are read has none.
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
    if action == "list" and (json_file or cases):
        raise typer.BadParameter("list shows all cases and writes no JSON")
    if action == "measure":
        with open_workplace(Path.cwd(), "releases", release=NEWEST, machine=machine) as workplace:
            pairs = _Releases(workplace.configuration, requirement, workplace.machine).to_measure(
                release, against
            )
            found, status = _measure(workplace, pairs, cases, again=again)
        write_answer(Answer("releases", differences=found), json_file)
        return status
    configuration = read_configuration(Path.cwd())
    name = machine_name(machine)
    check_machine(configuration.results, machine if action == "list" else name)
    listed = _Releases(configuration, requirement, name)
    if action == "list":
        print(listed.as_table())
        return ExitStatus.DONE
    pairs = listed.pairs(release, against)
    selection = matching(cases, otherwise=EVERYTHING)
    compared = []
    for step in (pair.stored for pair in pairs):
        ratios = {case: ratio for case, ratio in step.ratios.items() if selection.matches(case)}
        if ratios:
            compared.append(replace(step, ratios=ratios))
    tables = "\n\n".join(_findings(listed.requirement, step) for step in compared)
    if not tables and any(pair.stored.ratios for pair in pairs):
        tables = f"no compared case matches {selection}"
    other = against or "its predecessor"
    print(tables or f"no such release was compared with {other} on {listed.machine}")
    answer = Answer("releases")
    for step in compared:
        for finding in step.findings:
            difference = measured_difference(finding, listed.machine)
            difference.reason = f"{listed.requirement} {step.after} against {step.before}"
            answer.differences.append(difference)
    write_answer(answer, json_file)
    return ExitStatus.DONE


class _Releases:
    """The releases of a requirement in asv.conf.json, and what a machine stored about them."""

    def __init__(self, configuration: Configuration, requirement: str, machine: str) -> None:
        listed = [name for name, releases in configuration.releases.items() if releases]
        if not listed:
            raise WatchError(
                "asv.conf.json lists no releases; add those to compare, the newest first: "
                '"releases": {"numpy": ["2.4.0", "2.3.5"]}'
            )
        if requirement not in listed and (requirement or len(listed) > 1):
            other = f", not of {requirement!r}" if requirement else ""
            raise WatchError(
                f"asv.conf.json lists releases of {', '.join(listed)}{other}; name one, such as "
                f"`asv-watch releases {listed[0]}`"
            )
        self.requirement = requirement or listed[0]
        self.machine = machine
        self._listed = configuration.releases[self.requirement]
        self._comparisons, _ = read_record(configuration.results, machine)

    def pairs(self, release: str = "", against: str = "") -> tuple[ReleasePair, ...]:
        return release_pairs(
            self.requirement, self._listed, self._comparisons, release=release, against=against
        )

    def to_measure(self, release: str, against: str) -> tuple[ReleasePair, ...]:
        """Return the pairs that this Python can install, and print why it cannot for others."""
        pairs = self.pairs(release, against)
        if not pairs:
            what = f"{self.requirement} {release}" if release else f"the newest {self.requirement}"
            raise WatchError(
                f"{what} has {f'no {against} to compare with' if against else 'no predecessor'} "
                'under "releases" in asv.conf.json; `asv-watch releases '
                f"{self.requirement}` lists what is there"
            )
        for reason in dict.fromkeys(filter(None, (pair.lacks_python for pair in pairs))):
            print(reason, flush=True)
        pairs = tuple(pair for pair in pairs if not pair.lacks_python)
        if not pairs:
            raise WatchError("no two of these releases can be installed with this Python")
        return pairs

    def as_table(self) -> str:
        """Return a row for each release: what was compared, what is missing, what failed."""
        listed = self._listed
        failures = failed_releases(self._comparisons, self.requirement)
        steps = {pair.after.version: pair.stored for pair in self.pairs()}
        companions = [
            name
            for name in listed[0].requirements
            if name != self.requirement
            and len({each.requirements.get(name) for each in listed}) > 1
        ]
        rows = []
        for each in listed:
            failure = failures.get(each.release, "")
            reason = f"failed: {failure}" if failure else each.lacks_python
            others = [each.requirements.get(name, "") for name in companions]
            rows.append((each.version, *others, _compared(steps.get(each.version), reason)))
        head = (self.requirement, *companions, "against its predecessor")
        return f"on {self.machine}:\n{table(head, rows)}"


def _measure(
    workplace: Workplace, pairs: Sequence[ReleasePair], cases: str, *, again: bool
) -> tuple[list[Difference], ExitStatus]:
    """Compare the releases of each pair in what is missing, print and store it."""
    found: list[Difference] = []
    compared, any_failed = 0, False
    package, declared = side(workplace, "HEAD"), workplace.declared
    selection = matching(cases, otherwise=declared.cases_of_releases)
    listed = _list_benchmarks(workplace, package, pairs[0].after)
    chosen = suites.choose_cases(listed, selection, declared, "time", "memory", "count")
    for pair, result in measure_releases(workplace, pairs, package, chosen, again=again):
        compared += 1
        any_failed |= isinstance(result, WatchError) or bool(result.failures)
        if isinstance(result, WatchError):
            print(f"{pair.after.release} against {pair.before.version}: {result}", flush=True)
            continue
        sides = str(pair.before.release), str(pair.after.release)
        in_pair = differences_of(result, workplace.machine, sides)
        print(f"\n{report(result, in_pair, *sides)}\n", flush=True)
        found += in_pair
    if not compared:
        print("nothing is missing: each release is compared already")
    return found, ExitStatus.SOME_CASES_FAILED if any_failed else ExitStatus.DONE


def _list_benchmarks(
    workplace: Workplace, package: Side, release: EnvironmentSpec
) -> suites.Benchmarks:
    """List benchmarks in asv's environment, or in that of a release if asv made none."""
    if not workplace.environments[0].folder.exists():
        with contextlib.suppress(WatchError):  # measuring it says why
            in_release = dataclasses.replace(package, environment=release)
            return suites.list_benchmarks(workplace, [in_release]).benchmarks
    return suites.list_benchmarks(workplace, [package]).benchmarks


def _findings(requirement: str, step: ReleaseStep) -> str:
    """Return Markdown: a row for each case that differs between two releases."""
    findings = step.findings
    measured = len(step.ratios) - len(step.counts)
    moved = [
        f"`{case}`: {quantities.moved(count.before, count.after, count.unit)}"
        for case, count in step.counts.items()
        if count.differs
    ]
    exact = f"\n\nExact values that differ: {'; '.join(moved)}" if moved else ""
    heading = f"{requirement} {step.after} against {step.before}: "
    if not findings:
        return f"{heading}no difference in {measured} cases{exact}"
    rows = [
        (
            f"`{finding.case}`",
            quantities.days(finding.days_showing, finding.days),
            quantities.quantity(finding.before, finding.unit),
            str(finding),
            "; ".join(
                f"{quantities.day(ratio.at)}: {ratio}"
                for ratio in {ratio.at // DAY: ratio for ratio in finding.sittings}.values()
            ),
        )
        for finding in findings
    ]
    head = ("case", "shown on", "before", "change (99 % interval)", "by itself, each day")
    return (
        f"{heading}{len(findings)} of {measured} cases differ\n\n{table(head, rows)}{exact}\n\n"
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
    failed = sum(outcome is not Outcome.SKIPPED for outcome, _ in step.unmeasured.values())
    days = [quantities.day(day * DAY) for day in sorted(step.days)]
    parts = (
        quantities.counted(len(step.ratios) - len(step.counts), "case"),
        quantities.counted(len(step.counts), "exact value") if step.counts else "",
        f"{failed} failed" if failed else "",
        days[0],
        f"again {days[-1]}" if len(days) > 1 else "",
    )
    return ", ".join(filter(None, parts))
