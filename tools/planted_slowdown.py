"""Is a slowdown found, and nothing where there is none: ``make planted-slowdown``.

Commits of a scratch clone make every model do extra work, 5 % and 10 % of its pass, which
is timed beside the pass without it (`tools.planted_share`). asv measures them side by side
with commits that are as they were, a round of each in turn, so that drift of the machine
meets all alike::

    A  A+5%  A  A+10%  A  A+5%  A  A+10%  A ...   first round
    A ...  A+10%  A  A+5%  A  A+10%  A  A+5%  A   second round, backwards

Each planted commit is compared with the A before it by the rules of
`torchspeed.history.compare`, case by case: the case is planted, all others are those of the
next A, as when one model got slower. Each A is compared with the next for false alarms.

*found* is what the rules say where the noise between runs is known, as it is of a series with
some history: here from all A but those that are compared. *By two runs alone* is what they
say without.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import asv.util

from torchspeed.driver import configuration, machine, preflight, selection
from torchspeed.driver.calibration_report import table
from torchspeed.driver.other_load import LoadWatch
from torchspeed.driver.progress import Progress, human_time, remembered_seconds
from torchspeed.driver.scratch import ScratchProject
from torchspeed.errors import TorchspeedError
from torchspeed.history.calibration import NOISE_TARGET, WORST_TARGET_IDLE, Load
from torchspeed.history.compare import (
    DEVIATIONS_BETWEEN_RUNS,
    Verdict,
    compare_revisions,
)
from torchspeed.history.noise import calibrated_noise, noise_together
from torchspeed.history.records import History, Series

FEWEST_REPEATS = 2
"""So many leave two A at least to tell the noise by, beside two that are compared."""
SHARES = (0.05, 0.10)
WANTED = (0.95, 1.0)
"""Of each share, the part of cases in which it is to be found."""
DEFAULT_CASES = tuple(one for one in selection.SHORT if not one.startswith(r"^variants"))
"""Variants run other cases' models in less time or more, so that as many operations are
another share of theirs."""
_TOOLS = Path(__file__).parent
_WORK = "src/torchspeed/planted_work.py"
_WORKLOADS = "src/torchspeed/workloads.py"


@dataclass(frozen=True)
class Real:
    """What a share comes to in one case."""

    median: float
    low: float
    high: float


@dataclass
class Plant:
    """The extra work of each share, and what it really is in each case."""

    operations: dict[str, list[int]] = field(default_factory=dict)
    """``"<workload> <training>"`` to the operations of each share."""
    real: dict[str, list[Real]] = field(default_factory=dict)
    """Case to each share."""


def settle_shares(
    checkout: Path, pair: configuration.Pair, cases: Sequence[str], shares: Sequence[float]
) -> Plant:
    """Ask `tools.planted_share` about every case.

    Args:
        checkout: with the installed commit's suites and this folder of tools.
        pair: the environment.
        cases: names.
        shares: of a pass.

    Raises:
        TorchspeedError: a case cannot be asked.
    """
    plant = Plant()
    environment = os.environ | dict(pair.variables) | {"PYTHONPATH": str(checkout / "src")}
    for number, case in enumerate(cases, start=1):
        print(f"[{number}/{len(cases)}] {case}", flush=True)
        question = {"case": case, "shares": list(shares), "operations": plant.operations}
        done = subprocess.run(
            [str(pair.folder / "bin" / "python"), "-m", "tools.planted_share"],
            input=json.dumps(question),
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise TorchspeedError(
                f"{case} cannot be planted ({said[0]}); leave it out with --cases"
            )
        answers = json.loads(done.stdout.splitlines()[-1])
        plant.real[case] = [Real(one["real"], one["low"], one["high"]) for one in answers]
        key = f"{answers[0]['workload']} {answers[0]['training']}"
        plant.operations[key] = [one["operations"] for one in answers]
    return plant


def commit_planted(clone: Path, plant: Plant, place: int, share: float) -> str:
    """Commit the extra work of a share to the clone's branch; return the commit's hash."""
    operations = {
        (key.split()[0], key.split()[1] == "True"): counts[place]
        for key, counts in plant.operations.items()
    }
    shutil.copyfile(_TOOLS / "planted_work.py", clone / _WORK)
    with (clone / _WORKLOADS).open("a", encoding="utf-8") as stream:
        stream.write("\n\nfrom torchspeed.planted_work import install  # noqa: E402\n\n")
        stream.write(f"install({operations!r})\n")
    return _commit(clone, f"Do {share:.0%} more work in every model")


def commit_plain(clone: Path, original: str) -> str:
    """Commit the tree as it was at first; return the commit's hash."""
    _git(clone, "read-tree", "-u", "--reset", original)
    return _commit(clone, "Do without the extra work")


def _commit(clone: Path, subject: str) -> str:
    identity = ("-c", "user.name=planted", "-c", "user.email=planted@example.org")
    _git(clone, "add", "--all")
    _git(clone, *identity, "commit", "--quiet", "--no-verify", "--message", subject)
    return preflight.git(clone, "rev-parse", "HEAD")


def _git(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[:1] or ["no message"]
        raise TorchspeedError(f"git {arguments[0]} failed in {folder}: {said[0]}")


@dataclass(frozen=True)
class Trial:
    """A planted commit, the A before it and the A after it."""

    before: str
    planted: str
    after: str
    share: int
    """Its place among the shares."""


@dataclass(frozen=True)
class Case:
    """What became of one case in all trials of a share."""

    real: Real
    ratio: float
    """Median of what asv measured, less one."""
    trials: int
    found: int
    alone: int
    """Found by two runs that nothing else is known of."""


@dataclass(frozen=True)
class Outcome:
    """All trials together."""

    noise: Mapping[str, float]
    """Case to the standard deviation of the logarithm of the ratio of two runs of A."""
    worst: Mapping[str, float]
    """Case to the highest A over the lowest, less one."""
    cases: Mapping[str, Sequence[Case]]
    """Case to each share."""
    false_alarms: Mapping[str, int]
    """Case to how often one A was called different from the next."""
    alone: Mapping[str, int]
    """Likewise, by two runs that nothing else is known of."""
    comparisons: int
    """Of one A with the next: as many for each case."""


def judge(
    history: History, plain: Sequence[str], trials: Sequence[Trial], plant: Plant
) -> Outcome:
    """Compare planted commits with plain ones, and these with each other.

    Args:
        history: of all of these commits.
        plain: hashes of all A, in order.
        trials: with every share.
        plant: what was planted.
    """
    commits = [*plain, *(trial.planted for trial in trials)]
    series = {
        one.case.name: one
        for one in history.series
        if one.case.name in plant.real and all(_value(one, name) for name in commits)
    }
    between = Between(series, plain)
    alarms, alone = dict.fromkeys(series, 0), dict.fromkeys(series, 0)
    for first, second in pairwise(plain):
        for name, verdict in _compared(history, series, {}, first, second).items():
            called = verdict is not Verdict.SAME
            alone[name] += called
            alarms[name] += called and between.beyond(name, first, second)
    cases = {
        name: [
            _case(
                history,
                series,
                name,
                between,
                plant.real[name][place],
                [trial for trial in trials if trial.share == place],
            )
            for place in range(len(plant.real[name]))
        ]
        for name in series
    }
    return Outcome(
        noise={name: between.noise(name) for name in series},
        worst={name: between.worst(name) for name in series},
        cases=cases,
        false_alarms=alarms,
        alone=alone,
        comparisons=len(plain) - 1,
    )


class Between:
    """What the runs of A differ by among themselves."""

    def __init__(self, series: Mapping[str, Series], plain: Sequence[str]) -> None:
        self._series = series
        self._figures = {
            name: {at: _value(one, at) for at in plain} for name, one in series.items()
        }

    def noise(self, name: str, left_out: Sequence[str] = ()) -> float:
        """Standard deviation of the logarithm of the ratio of two A, some of them left out."""
        kept = [math.log(v) for at, v in self._figures[name].items() if at not in left_out]
        return math.sqrt(2 * statistics.variance(kept))

    def worst(self, name: str) -> float:
        """The highest A over the lowest, less one."""
        return max(self._figures[name].values()) / min(self._figures[name].values()) - 1

    def beyond(self, name: str, before: str, after: str) -> bool:
        """Is a difference larger than the noise that all other A tell, as the rules ask."""
        noises = [self.noise(one, (before, after)) for one in self._figures]
        noise = calibrated_noise(self.noise(name, (before, after)), noises)
        series = self._series[name]
        size = abs(math.log(_value(series, after) / _value(series, before)))
        return size > DEVIATIONS_BETWEEN_RUNS * noise


def _case(
    history: History,
    series: Mapping[str, Series],
    name: str,
    between: Between,
    real: Real,
    trials: Sequence[Trial],
) -> Case:
    found = alone = 0
    ratios = []
    for trial in trials:
        verdicts = _compared(history, series, {name: trial.planted}, trial.before, trial.after)
        ratios.append(_value(series[name], trial.planted) / _value(series[name], trial.before))
        if verdicts[name] is Verdict.WORSE:
            alone += 1
            found += between.beyond(name, trial.before, trial.planted)
    return Case(real, statistics.median(ratios) - 1, len(trials), found, alone)


def _compared(
    history: History,
    series: Mapping[str, Series],
    instead: Mapping[str, str],
    before: str,
    after: str,
) -> dict[str, Verdict]:
    """Compare two commits alone; some cases take another commit's run for the later one."""
    pairs = tuple(
        replace(
            one,
            runs={before: one.runs[before], after: one.runs[instead.get(name, after)]},
        )
        for name, one in series.items()
    )
    compared = compare_revisions(replace(history, series=pairs), before, after)
    return {one.case.name: one.verdict for one in compared}


def _value(series: Series, commit: str) -> float:
    run = series.runs.get(commit)
    return run.point.value if run is not None and run.point is not None else 0.0


def report(outcome: Outcome, shares: Sequence[float], where: str, load: Load) -> str:
    """Markdown: a row a case, then the sums against what is wanted."""
    head = ["case", "A/A noise", "worst"]
    for share in shares:
        head += [f"{share:.0%}: really", "measured", "found", "by two runs alone"]
    rows = [
        [
            f"`{name}`",
            f"{outcome.noise[name]:.2%}",
            f"{outcome.worst[name]:.2%}",
            *(cell for case in cases for cell in _cells(case)),
            f"{outcome.false_alarms[name]} of {outcome.comparisons}",
            f"{outcome.alone[name]} of {outcome.comparisons}",
        ]
        for name, cases in sorted(outcome.cases.items(), key=lambda one: -outcome.noise[one[0]])
    ]
    lines = [
        f"**{where}**; other load {load.others:.2f} cores, load average before "
        f"{load.before:.2f}, stolen {load.stolen:.1%}.",
        table([*head, "false alarms", "by two runs alone"], rows),
        f"A against A, side by side: noise {noise_together(list(outcome.noise.values())):.2%}, "
        f"worst {max(outcome.worst.values()):.1%} of {len(rows)} cases (wanted on an idle "
        f"machine: at most {NOISE_TARGET:.0%} and {WORST_TARGET_IDLE:.0%}).",
    ]
    for place, (share, wanted) in enumerate(zip(shares, WANTED, strict=False)):
        of_share = [cases[place] for cases in outcome.cases.values()]
        trials = sum(case.trials for case in of_share)
        found, alone = (
            sum(getattr(case, name) for case in of_share) for name in ("found", "alone")
        )
        lines.append(
            f"{share:.0%} planted: found in {found} of {trials} ({found / trials:.1%}; wanted: "
            f"{wanted:.0%}), by two runs alone in {alone} ({alone / trials:.1%})."
        )
    comparisons = outcome.comparisons * len(outcome.cases)
    lines.append(
        f"Nothing planted: {sum(outcome.false_alarms.values())} false alarms in {comparisons} "
        f"comparisons (wanted: none), by two runs alone {sum(outcome.alone.values())}."
    )
    return "\n\n".join(lines)


def _cells(case: Case) -> list[str]:
    real = case.real
    return [
        f"{real.median:.1%} [{real.low:.1%}, {real.high:.1%}]",
        f"{case.ratio:+.1%}",
        f"{case.found} of {case.trials}",
        f"{case.alone} of {case.trials}",
    ]


class Measuring:
    """The scratch clone and the runs of asv over it."""

    def __init__(self, root: Path, pair: configuration.Pair, name: str, cases: str) -> None:
        folder = root / ".asv" / "planted"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.clone = folder / "clone"
        _git(root, "clone", "--quiet", "--no-hardlinks", str(root), str(self.clone))
        self.first = preflight.git(root, "rev-parse", "HEAD")
        _git(self.clone, "checkout", "--quiet", "-B", "main", self.first)
        self._folder = folder
        self._environments = pair.folder.parent
        self._pair, self._name = pair, name
        chosen = (selection.checked(cases),) if cases else DEFAULT_CASES
        self._patterns = selection.timings(chosen)

    def cases(self) -> list[str]:
        """Names of the cases that run on this machine.

        Raises:
            TorchspeedError: there is none.
        """
        print("looking which cases run here", flush=True)
        history = self._measure("quick", [self.first], Progress({}), quick=True)
        found = [one.case.name for one in history.series if one.last.point is not None]
        if not found:
            raise TorchspeedError(f"no case of {', '.join(self._patterns)} runs and times here")
        return found

    def side_by_side(self, commits: Sequence[str]) -> History:
        """Measure commits, a round of each in turn."""
        results = self._folder / "quick" / "results"
        listed = asv.util.load_json(str(results / "benchmarks.json"), api_version=2)
        rounds = max(one.get("rounds", 1) for one in listed.values() if isinstance(one, dict))
        print(f"measuring {len(commits)} commits in turn, {rounds} rounds", flush=True)
        seconds = remembered_seconds(results / self._name)
        return self._measure("asv", commits, Progress(seconds, again=len(commits) * rounds - 1))

    def _measure(
        self, folder: str, commits: Sequence[str], progress: Progress, *, quick: bool = False
    ) -> History:
        project = ScratchProject(self._folder / folder, self.clone, self._environments)
        project.measure(commits, self._pair, self._name, self._patterns, progress, quick=quick)
        progress.say("  done")
        return project.history(tuple(commits))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make planted-slowdown")
    parser.add_argument("--repeats", type=int, default=2, help="trials of each share (default: 2)")
    parser.add_argument("--cases", default="", metavar="PATTERN")
    parser.add_argument("--torch", default="newest", metavar="RELEASE")
    parser.add_argument("--machine", default="", help="default: this host's name")
    return parser.parse_args(arguments)


def _work(options: argparse.Namespace) -> None:
    if options.repeats < FEWEST_REPEATS:
        raise TorchspeedError(
            f"--repeats {options.repeats} leaves too few runs to tell the noise by; "
            f"ask for {FEWEST_REPEATS} or more"
        )
    root = Path.cwd()
    preflight.check_checkout(root)
    conf = configuration.read_configuration(root)
    pair = configuration.select_pairs(conf.pairs, options.torch)[0]
    preflight.check(root, conf, (pair,))
    name = options.machine or machine.default_name()
    machine.register(name)
    runs = Measuring(root, pair, name, options.cases)
    started, watch = time.monotonic(), LoadWatch()
    cases = runs.cases()
    print("settling the extra work", flush=True)
    plant = settle_shares(runs.clone, pair, cases, SHARES)
    plain, trials = [runs.first], []
    for place in [*range(len(SHARES))] * options.repeats:
        planted = commit_planted(runs.clone, plant, place, SHARES[place])
        back = commit_plain(runs.clone, runs.first)
        trials.append(Trial(plain[-1], planted, back, place))
        plain.append(back)
    in_turn = [runs.first, *(commit for one in trials for commit in (one.planted, one.after))]
    history = runs.side_by_side(in_turn)
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    where = (
        f"{name}, {day}: commit {runs.first[:8]}, {pair}, {len(plain)} runs of A and "
        f"{len(trials)} planted ones in turn, {human_time(time.monotonic() - started)} in all"
    )
    print("\n" + report(judge(history, plain, trials, plant), SHARES, where, watch.load()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; a mistake is one line on standard error."""
    try:
        _work(_parse(arguments))
    except TorchspeedError as error:
        print(f"torchspeed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("torchspeed: interrupted before all rounds were through", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
