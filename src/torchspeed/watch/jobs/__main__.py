"""``python -m torchspeed.watch.jobs``: what ``make bench``, ``nightly``, ``compare`` … call."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.rule import Verdict
from torchspeed.watch.asv import selection
from torchspeed.watch.asv import settings as configuration
from torchspeed.watch.asv.commands import run_asv
from torchspeed.watch.asv.registration import register
from torchspeed.watch.history.calibrations import FILE_NAME, append_calibration
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.jobs import measuring, nightly, preflight
from torchspeed.watch.machine import description as machine
from torchspeed.watch.progress import Progress
from torchspeed.watch.turns import compare as comparing
from torchspeed.watch.turns import compare_report as comparison_report
from torchspeed.watch.turns.calibrate import calibrate
from torchspeed.watch.turns.calibration_report import report
from torchspeed.watch.turns.rounds import measure_side_by_side
from torchspeed.watch.turns.sides import side

SOME_CASES_FAILED = 3
"""Exit status of a run that was published whole, with failed cases in it."""
SLOWER = 4
"""Exit status of a comparison that found a case slower, if that was asked for."""


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m torchspeed.watch.jobs",
        description="Measure what is missing with asv, publish the site, say how to look.",
        epilog="Exit status: 0 all well, 1 nothing more could be done (one line says why), "
        "3 measured and published, but some cases failed, 4 a case is slower (compare with "
        "--fail-if-slower).",
    )
    parser.add_argument(
        "job",
        choices=["bench", "nightly", "calibrate", "compare"],
        help="bench: HEAD; nightly: every commit of main that is not measured yet; "
        "calibrate: HEAD several times, to say how noisy this machine is; "
        "compare: two commits or torch releases side by side",
    )
    parser.add_argument(
        "--full", action="store_true", help="measure every case, not the short set"
    )
    parser.add_argument(
        "--cases",
        default="",
        metavar="PATTERN",
        help="measure the cases whose name matches this regular expression, such as darnn",
    )
    parser.add_argument(
        "--torch",
        default="newest",
        metavar="RELEASE",
        help="torch release to measure with, of those in asv.conf.json; or newest, or all",
    )
    parser.add_argument(
        "--machine", default="", metavar="NAME", help="folder of results; by default the host name"
    )
    parser.add_argument(
        "--runs", type=int, default=3, metavar="N", help="runs of a calibration (default: 3)"
    )
    parser.add_argument(
        "--comparisons",
        type=int,
        default=2,
        metavar="N",
        help="comparisons of HEAD with itself after a calibration's runs (default: 2)",
    )
    for name, default in (("before", "HEAD~1"), ("after", "HEAD")):
        parser.add_argument(
            f"--{name}",
            default=default,
            metavar="COMMIT[@RELEASE]",
            help=f"side of a comparison, . being the working tree (default: {default})",
        )
    parser.add_argument(
        "--fail-if-slower", action="store_true", help="exit with 4 where a comparison finds that"
    )
    return parser.parse_args(arguments)


def _work(options: argparse.Namespace) -> int:
    root = Path.cwd()
    preflight.check_checkout(root)
    conf = configuration.read_configuration(root)
    if options.job == "compare":
        return _compare(options, root, conf)
    pairs = configuration.select_pairs(
        conf.pairs, "all" if options.job == "nightly" else options.torch
    )
    if options.job == "calibrate" and len(pairs) > 1:
        raise TorchspeedError(f"a calibration takes one torch release, not {options.torch!r}")
    preflight.check(root, conf, pairs)
    name = options.machine or machine.default_name()
    register(name)
    if options.job == "calibrate":
        return _calibrate(options, root, conf, pairs[0], name)
    if options.job == "nightly":
        commits = nightly.commits_to_measure(root, conf.branch, conf.results, name)
    else:
        commits = [ask_git(root, "rev-parse", "HEAD")]
    if options.cases:
        patterns: tuple[str, ...] = (selection.checked(options.cases),)
    else:
        patterns = selection.SHORT if options.job == "bench" and not options.full else ()
    tally = measuring.measure(
        root,
        conf,
        commits,
        pairs,
        name,
        patterns=patterns,
        retry_failed=options.job == "bench",
    )
    print("publishing", flush=True)
    run_asv(root, ["publish", "--no-pull"], Progress({}))
    print(f"{tally}; the site is in {conf.site.name}/: look at it with `make preview`")
    for failure in tally.failures:
        print(failure, file=sys.stderr)
    return SOME_CASES_FAILED if tally.failures else 0


def _calibrate(
    options: argparse.Namespace,
    root: Path,
    conf: configuration.Configuration,
    pair: configuration.Pair,
    name: str,
) -> int:
    chosen = (selection.checked(options.cases),) if options.cases else selection.SHORT
    found = calibrate(
        root,
        conf,
        ask_git(root, "rev-parse", "HEAD"),
        pair,
        name,
        patterns=selection.timings(chosen),
        runs=options.runs,
        comparisons=options.comparisons,
    )
    path = conf.results / name / FILE_NAME
    append_calibration(path, found)
    print(
        f"\n{report(found, name)}\n\nkept in {path.relative_to(root)}: the site's Status shows it"
    )
    return 0


def _compare(options: argparse.Namespace, root: Path, conf: configuration.Configuration) -> int:
    folder = root / ".asv" / "side-by-side"
    before, after = (
        side(root, conf, said, options.torch, folder / "packages")
        for said in (options.before, options.after)
    )
    chosen = (selection.checked(options.cases),) if options.cases else selection.SHORT
    pairs = [before.pair, after.pair]
    preflight.check_room(conf, tuple(pairs))
    name = options.machine or machine.default_name()
    register(name)
    print(f"before: {before.name}\nafter:  {after.name}", flush=True)
    head = ask_git(root, "rev-parse", "HEAD")
    cases = comparing.list_cases(root, pairs, name, selection.timings(chosen), head)
    measured = measure_side_by_side((before, after), comparing.suites(root), cases)
    compared = comparing.judge(measured)
    print(f"\n{comparison_report.report(compared, measured, before.name, after.name)}")
    if measured.failed:
        return SOME_CASES_FAILED
    slower = any(one.ratio.verdict is Verdict.WORSE for one in compared)
    return SLOWER if slower and options.fail_if_slower else 0


def main(arguments: list[str] | None = None) -> int:
    """Run a job; print errors that a person can mend as one line."""
    try:
        return _work(_parse(arguments))
    except TorchspeedError as error:
        print(f"torchspeed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        job = (arguments or sys.argv[1:])[:1]
        goes_on = {
            "calibrate": "nothing was kept, for that takes two whole runs",
            "compare": "nothing was kept: a comparison is whole or none",
        }.get("".join(job), "the same command goes on where it stopped")
        print(f"torchspeed: interrupted; {goes_on}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
