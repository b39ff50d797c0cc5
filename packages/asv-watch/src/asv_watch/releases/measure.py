"""Compares releases of a requirement at one commit, and resumes where it stopped."""

import dataclasses
import itertools
import math
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch import probes
from asv_watch.asv.environments import make_environment
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.comparison import Comparison, Ratio, import_case
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import Compared, measure
from asv_watch.engine.processes import sampling_orders
from asv_watch.engine.workplace import Side, Workplace, check_room, count_that_fits
from asv_watch.errors import MachineError, WatchError
from asv_watch.explain import explain_case
from asv_watch.judge.causes import in_words
from asv_watch.judge.graph import MachineGraphs
from asv_watch.judge.release_history import ReleaseStep, release_steps
from asv_watch.machine.commands import run_command
from asv_watch.versions.version import Version

_SCRIPT_TIMEOUT = 300  # s: a first import compiles the package's Python files
_IMPORT_ROUNDS = 5
_MOST_AT_ONCE = 5
_MOST_EXPLAINED = 3
"""Number of most changed cases of two releases whose operators and kernels are compared."""


@dataclass(frozen=True, slots=True)
class ReleasePair:
    """Two releases of asv.conf.json, and what this machine has stored about them."""

    before: EnvironmentSpec
    after: EnvironmentSpec
    stored: ReleaseStep
    """Comparisons at any commit of this package."""

    @property
    def lacks_python(self) -> str:
        """Why one of them cannot be installed with this Python; empty if both can."""
        return self.before.lacks_python or self.after.lacks_python

    def missing(self, cases: Iterable[str]) -> list[str]:
        """Return the cases without a ratio, a count or a reason why there is none."""
        return [case for case in cases if case not in self.stored.commits]


def release_pairs(
    requirement: str,
    releases: Sequence[EnvironmentSpec],
    comparisons: Sequence[Comparison],
    *,
    release: str = "",
    against: str = "",
) -> tuple[ReleasePair, ...]:
    """Pair the releases of a requirement, newest first, each with its predecessor.

    The comparisons are those of one machine. If ``release`` is given, no other is paired. If
    ``against`` is given, each is paired with it instead of its predecessor; both are the same for
    a pair of a release with itself.
    """
    stored = release_steps(MachineGraphs(comparisons), requirement)
    if release and release == against:
        pairs = [(spec, spec) for spec in releases if spec.version == release]
    elif against:
        pairs = [
            (after, before)
            for after, before in itertools.combinations(releases, 2)
            if against in {after.version, before.version}
            and release in {"", after.version, before.version}
        ]
    else:
        pairs = [
            (after, before)
            for after, before in itertools.pairwise(releases)
            if release in {"", after.version}
        ]
    return tuple(
        ReleasePair(before, after, stored.get(names) or ReleaseStep(*names))
        for after, before in pairs
        for names in [(before.version, after.version)]
    )


def release_chains(
    pairs: Iterable[ReleasePair], cases: Collection[str] | None, most: int
) -> list[list[ReleasePair]]:
    """Join pairs of neighbouring releases that lack the same cases; leave out the others.

    All releases of a chain are measured at once, so each is sampled once a round and not twice:
    five releases have five sides instead of eight. Pairs come newest first. Without names of
    ``cases`` all neighbours are joined, whatever they lack. A chain has at most ``most`` releases,
    which are two at least.
    """
    found: list[list[ReleasePair]] = []
    lacking: list[str] | None = None
    for pair in pairs:
        missing = None if cases is None else pair.missing(cases)
        if missing == []:
            continue
        is_next = bool(found) and found[-1][-1].before == pair.after
        if is_next and missing == lacking and len(found[-1]) + 1 < most:
            found[-1].append(pair)
        else:
            found.append([pair])
        lacking = missing
    return found


def oldest_to_newest(chain: Sequence[ReleasePair]) -> list[EnvironmentSpec]:
    """Return the releases of a chain; the release of a pair with itself comes twice."""
    return [chain[-1].before, *(pair.after for pair in reversed(chain))]


def longest_chain(workplace: Workplace, pairs: Iterable[ReleasePair]) -> int:
    """Return how many releases may be measured at once: five, or fewer on a small disk."""
    folders = {release.folder for pair in pairs for release in (pair.before, pair.after)}
    return max(2, count_that_fits(workplace.configuration, folders, _MOST_AT_ONCE))


def remove_environments(releases: Iterable[EnvironmentSpec]) -> None:
    """Remove the environments of releases, which may take 6 GB each."""
    for release in releases:
        shutil.rmtree(release.folder, ignore_errors=True)


def measure_releases(
    workplace: Workplace,
    pairs: Sequence[ReleasePair],
    package: Side,
    cases: Sequence[MeasurableCase],
    *,
    again: bool = False,
) -> Iterator[tuple[ReleasePair, Compared | WatchError]]:
    """Compare the releases of each pair, and explain the cases that changed most.

    Pairs of neighbours are measured as one chain. Environments are made when their turn comes
    and removed when no later chain needs them. Every finished case is stored at once.

    Args:
        workplace: the checkout, and the machine under whose name results are stored.
        pairs: what to compare, the newest first.
        package: the commit of this package that all releases run.
        cases: what to measure; what is stored already is left out.
        again: measure all cases once more, such as on another day.

    Yields:
        Each pair that lacks a case, with its comparison, or why there is none.

    Raises:
        MachineError: the machine is to blame, such as a full disk; no later pair is tried.
    """
    names = [case.name for case in cases]
    chains = release_chains(pairs, None if again else names, longest_chain(workplace, pairs))
    for number, chain in enumerate(chains, start=1):
        missing = names if again else chain[0].missing(names)
        chosen = [case for case in cases if case.name in missing]
        releases = oldest_to_newest(chain)
        check_room(workplace.configuration, tuple(releases))
        usable = []
        try:
            reasons = {release.folder: _install(workplace, release) for release in releases}
            for pair in chain:
                named = enumerate(reasons[each.folder] for each in (pair.before, pair.after))
                failed = {index: reason for index, reason in named if reason}
                if not failed:
                    usable.append(pair)
                    continue
                sides = [_side(package, release) for release in (pair.before, pair.after)]
                imports = import_case(pair.after.release.name)
                without_cases = Comparison(imports, int(time.time()), failed=failed)
                measure(workplace, sides, [], "release", extra=[without_cases])
                yield pair, WatchError(next(iter(failed.values())))
            for joined in release_chains(usable, None, len(chain) + 1):
                yield from _compare(workplace, joined, package, chosen)
        except MachineError:
            remove_environments(releases)
            raise
        needed = [release for later in chains[number:] for release in oldest_to_newest(later)]
        remove_environments(release for release in releases if release not in needed)


def _compare(
    workplace: Workplace,
    chain: Sequence[ReleasePair],
    package: Side,
    cases: Sequence[MeasurableCase],
) -> Iterator[tuple[ReleasePair, Compared | WatchError]]:
    sides = [_side(package, release) for release in oldest_to_newest(chain)]
    timed = [case for case in cases if case.is_timed]
    try:
        imports = [_interleaved_imports(sides)] if timed else []
        measured = measure(workplace, sides, cases, extra=imports)
    except WatchError as error:
        yield from ((pair, error) for pair in chain)
        return
    for after, pair in zip(range(len(chain), 0, -1), chain, strict=True):
        try:
            compared = measured.between(after - 1, after)
        except WatchError as error:
            yield pair, error
            continue
        if pair.before != pair.after and workplace.declared.profiler is not None:
            _explain(workplace, (sides[after - 1], sides[after]), compared.ratios, timed)
        yield pair, compared


def _explain(
    workplace: Workplace,
    sides: tuple[Side, Side],
    ratios: Iterable[Ratio],
    cases: Iterable[MeasurableCase],
) -> None:
    by_name = {case.name: case for case in cases}
    differing = [ratio for ratio in ratios if ratio.case in by_name and ratio.differs]
    differing.sort(key=lambda ratio: -abs(math.log(ratio.ratio)))
    for ratio in differing[:_MOST_EXPLAINED]:
        try:
            explanation = explain_case(workplace, sides, by_name[ratio.case])
            answer = in_words(explanation, ratio.ratio, workplace.declared.layout)
        except WatchError as error:  # the ratio stays as it is
            answer = f"not explained: {error}"
        print(f"{ratio.case}: {answer}", flush=True)


def _side(package: Side, release: EnvironmentSpec) -> Side:
    assert package.version is not None  # noqa: S101 - it is a commit
    version = Version(package.version.commit, dict(release.requirements), release.python)
    return dataclasses.replace(
        package, name=str(release.release), environment=release, version=version
    )


def _install(workplace: Workplace, release: EnvironmentSpec) -> str:
    """Install and import a release; return why that is impossible, or nothing."""
    try:
        make_environment(workplace.root, workplace.configuration.repository, release)
        _import_seconds(release)  # compiles the package's Python files
        if workplace.declared.facts_script is not None:
            _run_script(release, workplace.declared.facts_script)
    except WatchError as error:
        return str(error)
    return ""


def _run_script(release: EnvironmentSpec, script: Path, *arguments: str) -> str:
    command = [str(release.folder / "bin" / "python"), "-P", str(script), *arguments]
    variables = os.environ | dict(release.variables)
    try:
        return run_command(command, _SCRIPT_TIMEOUT, cwd=release.folder.parent, env=variables)
    except WatchError as error:
        raise WatchError(f"{release.release}: {error}") from error


def _import_seconds(release: EnvironmentSpec) -> float:
    """Import the main requirement in a process of its own, and return the CPU seconds."""
    return float(_run_script(release, probes.IMPORTING, release.release.name))


def _interleaved_imports(sides: Sequence[Side]) -> Comparison:
    """Compare the cost of importing a requirement, in rounds of two processes of each side."""
    rounds = []
    for number in range(_IMPORT_ROUNDS):
        samples: list[list[float]] = [[] for _ in sides]
        for index in itertools.chain(*sampling_orders(len(sides), number)[:2]):
            samples[index].append(_import_seconds(sides[index].environment))
        rounds.append(tuple(map(min, samples)))
    name = import_case(sides[-1].environment.release.name)
    return Comparison(name, int(time.time()), rounds=tuple(rounds))
