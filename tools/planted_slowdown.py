"""Is a slowdown found, and nothing where there is none: ``make planted-slowdown``.

Commits of a scratch clone make every model do extra work, 5 % and 10 % of its pass, which
is timed beside the pass without it (`tools.planted_share`). A is compared with itself, with
A + 5 % and with A + 10 %, as ``make compare`` does (`torchspeed.watch.turns.rounds`). What
is called slower in a planted commit is *found*; what is called different in A itself is a
*false alarm*.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv import selection
from torchspeed.watch.asv import settings as configuration
from torchspeed.watch.asv.registration import register
from torchspeed.watch.history.calibrations import NOISE_TARGET, WORST_TARGET_IDLE, Load
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs import preflight
from torchspeed.watch.machine import description as machine
from torchspeed.watch.machine.load import LoadWatch
from torchspeed.watch.progress import human_time
from torchspeed.watch.turns import compare as comparing
from torchspeed.watch.turns.calibration_report import table
from torchspeed.watch.turns.ratio import Ratio
from torchspeed.watch.turns.rounds import Measured, measure_side_by_side
from torchspeed.watch.turns.sides import Side, side

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
    """Commit the extra work of a share on top of the clone's ``main``; return its hash."""
    _git(clone, "checkout", "--quiet", "--detach", "main")
    operations = {
        (key.split()[0], key.split()[1] == "True"): counts[place]
        for key, counts in plant.operations.items()
    }
    shutil.copyfile(_TOOLS / "planted_work.py", clone / _WORK)
    with (clone / _WORKLOADS).open("a", encoding="utf-8") as stream:
        stream.write("\n\nfrom torchspeed.planted_work import install  # noqa: E402\n\n")
        stream.write(f"install({operations!r})\n")
    return _commit(clone, f"Do {share:.0%} more work in every model")


def _commit(clone: Path, subject: str) -> str:
    identity = ("-c", "user.name=planted", "-c", "user.email=planted@example.org")
    _git(clone, "add", "--all")
    _git(clone, *identity, "commit", "--quiet", "--no-verify", "--message", subject)
    return ask_git(clone, "rev-parse", "HEAD")


def _git(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[:1] or ["no message"]
        raise TorchspeedError(f"git {arguments[0]} failed in {folder}: {said[0]}")


@dataclass
class Found:
    """What became of one case, in all repeats."""

    again: list[Ratio] = field(default_factory=list)
    """Of A to A."""
    planted: dict[int, list[Ratio]] = field(default_factory=dict)
    """Of A with extra work to A, by the share's place."""


def judge(repeats: Sequence[Sequence[Measured]]) -> dict[str, Found]:
    """What the comparisons come to; only cases that have a figure in all count.

    Args:
        repeats: each with the comparisons of A with itself, and with A and each share.
    """
    found: dict[str, Found] = {}
    complete = set.intersection(
        *({case.name for case in one.rounds} for repeat in repeats for one in repeat)
    )
    for repeat in repeats:
        for place, measured in enumerate(repeat):
            for one in comparing.judge(measured):
                if one.case not in complete:
                    continue
                case = found.setdefault(one.case, Found())
                ratios = case.planted.setdefault(place - 1, []) if place else case.again
                ratios.append(one.ratio)
    return found


def noise_of(found: Sequence[Found]) -> float:
    """Standard deviation of the logarithm of A's ratio to A, which should be 0."""
    logs = [math.log(ratio.value) for case in found for ratio in case.again]
    return math.sqrt(statistics.fmean(log**2 for log in logs))


def _worst(ratios: Sequence[Ratio]) -> float:
    return math.expm1(max(abs(math.log(ratio.value)) for ratio in ratios))


def report(
    found: Mapping[str, Found],
    real: Mapping[str, Sequence[Real]],
    shares: Sequence[float],
    where: str,
    load: Load,
) -> str:
    """Markdown: a row a case, then the sums against what is wanted."""
    head = ["case", "A/A, worst", "false alarms"]
    for share in shares:
        head += [f"{share:.0%}: really", "measured", "found"]
    rows = [
        [
            f"`{name}`",
            f"{_worst(case.again):.2%}",
            f"{_differences(case.again)} of {len(case.again)}",
            *(
                cell
                for place in range(len(shares))
                for cell in _cells(real[name][place], case.planted[place])
            ),
        ]
        for name, case in sorted(found.items(), key=lambda one: -_worst(one[1].again))
    ]
    again = [ratio for case in found.values() for ratio in case.again]
    lines = [
        f"**{where}**; other load {load.others:.2f} cores, load average before "
        f"{load.before:.2f}, stolen {load.stolen:.1%}.",
        table(head, rows),
        f"A against A: noise {noise_of(list(found.values())):.2%}, worst {_worst(again):.2%} of "
        f"{len(again)} comparisons (wanted on an idle machine: at most {NOISE_TARGET:.0%} and "
        f"{WORST_TARGET_IDLE:.0%}); {_differences(again)} false alarms (wanted: none).",
    ]
    for place, (share, wanted) in enumerate(zip(shares, WANTED, strict=False)):
        planted = [ratio for case in found.values() for ratio in case.planted[place]]
        count = _slower(planted)
        lines.append(
            f"{share:.0%} planted: found in {count} of {len(planted)} "
            f"({count / len(planted):.1%}; wanted: {wanted:.0%})."
        )
    return "\n\n".join(lines)


def _differences(ratios: Sequence[Ratio]) -> int:
    return sum(ratio.verdict is not Verdict.SAME for ratio in ratios)


def _slower(ratios: Sequence[Ratio]) -> int:
    return sum(ratio.verdict is Verdict.WORSE for ratio in ratios)


def _cells(real: Real, ratios: Sequence[Ratio]) -> list[str]:
    return [
        f"{real.median:.1%} [{real.low:.1%}, {real.high:.1%}]",
        ", ".join(f"{ratio.value - 1:+.1%}" for ratio in ratios),
        f"{_slower(ratios)} of {len(ratios)}",
    ]


class Measuring:
    """The scratch clone and its sides."""

    def __init__(self, root: Path, conf: configuration.Configuration, release: str) -> None:
        self._root, self._conf, self._release = root, conf, release
        self._folder = root / ".asv" / "planted"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self.clone = self._folder / "clone"
        _git(root, "clone", "--quiet", "--no-hardlinks", str(root), str(self.clone))
        self.first = ask_git(root, "rev-parse", "HEAD")
        _git(self.clone, "checkout", "--quiet", "-B", "main", self.first)

    def side(self, commit: str) -> Side:
        """One side, from a commit of the clone."""
        packages = self._folder / "packages"
        return side(self.clone, self._conf, commit, self._release, packages)

    def pairs(self, plant: Plant) -> list[tuple[Side, Side]]:
        """A and itself, and A and each share of extra work."""
        plain = self.side(self.first)
        planted = [
            self.side(commit_planted(self.clone, plant, place, share))
            for place, share in enumerate(SHARES)
        ]
        return [(plain, other) for other in (plain, *planted)]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make planted-slowdown")
    parser.add_argument("--repeats", type=int, default=1, help="of all comparisons (default: 1)")
    parser.add_argument("--cases", default="", metavar="PATTERN")
    parser.add_argument("--torch", default="newest", metavar="RELEASE")
    parser.add_argument("--machine", default="", help="default: this host's name")
    return parser.parse_args(arguments)


def _work(options: argparse.Namespace) -> None:
    if options.repeats < 1:
        raise TorchspeedError(f"--repeats {options.repeats} measures nothing; ask for 1 or more")
    root = Path.cwd()
    preflight.check_checkout(root)
    conf = configuration.read_configuration(root)
    pair = configuration.select_pairs(conf.pairs, options.torch)[0]
    preflight.check(root, conf, (pair,))
    name = options.machine or machine.default_name()
    register(name)
    chosen = (selection.checked(options.cases),) if options.cases else DEFAULT_CASES
    runs = Measuring(root, conf, pair.torch)
    started, watch = time.monotonic(), LoadWatch()
    cases = comparing.list_cases(root, [pair], name, selection.timings(chosen), runs.first)
    print("settling the extra work", flush=True)
    plant = settle_shares(runs.clone, pair, [case.name for case in cases], SHARES)
    pairs, suites = runs.pairs(plant), comparing.suites(runs.clone)
    repeats: list[list[Measured]] = []
    for number in range(1, options.repeats + 1):
        repeats.append([])
        for sides, what in zip(pairs, ("itself", *map("{:.0%} more".format, SHARES)), strict=True):
            print(f"repeat {number} of {options.repeats}: A against {what}", flush=True)
            repeats[-1].append(measure_side_by_side(sides, suites, cases))
    found = judge(repeats)
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    where = (
        f"{name}, {day}: commit {runs.first[:8]}, {pair}, {options.repeats} repeats in "
        f"{human_time(time.monotonic() - started)}"
    )
    print("\n" + report(found, plant.real, SHARES, where, watch.load()))
    for measured in itertools.chain.from_iterable(repeats):
        for case, why in measured.failed.items():
            print(f"{case} failed: {why}", file=sys.stderr)


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
