"""Lists, adds and measures torch releases."""

from __future__ import annotations

from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.exit_status import ExitStatus
from torchspeed.watch.analysis.releases import release_order
from torchspeed.watch.asv.release_list import add_release
from torchspeed.watch.asv.selection import SHORT, matching
from torchspeed.watch.asv.settings import Configuration, Pair, read_configuration
from torchspeed.watch.exclusive.run import exclusive_run
from torchspeed.watch.history.releases import TriedRelease, read_releases
from torchspeed.watch.jobs import preflight
from torchspeed.watch.jobs.workplace import open_workplace
from torchspeed.watch.machine.description import default_name
from torchspeed.watch.turns import compare_report, package_index
from torchspeed.watch.turns import release_environments as environments
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare import Compared
from torchspeed.watch.turns.markdown import table
from torchspeed.watch.turns.releases import measure_releases, neighbours
from torchspeed.watch.turns.sides import side
from torchspeed.watch.turns.workplace import Workplace

_MIB = 1024**2


def list_releases(root: Path, *, machine: str) -> ExitStatus:
    """Print the pinned releases with what was measured of each, and those that are not pinned.

    Args:
        root: the checkout.
        machine: whose results; the host's if empty.

    Raises:
        TorchspeedError: asv.conf.json cannot be read.
    """
    configuration = read_configuration(root)
    place = Workplace(root, configuration, configuration.pairs, machine or default_name())
    tried, _ = read_releases(configuration.results, place.machine)
    compared = {pair.after.torch: pair for pair in neighbours(place)}
    rows = []
    for release in configuration.releases:
        pair = compared.get(release.torch)
        against = f"{len(pair.cases)} cases, {pair.day}" if pair and pair.cases else "missing"
        import_s, peak = _import_cells(tried.get(release.torch))
        against = against if pair else "oldest"
        rows.append((release.torch, release.torchvision, against, import_s, peak))
    header = ("torch", "torchvision", "against its predecessor", "import, CPU s", "peak, MiB")
    print(f"on {place.machine}:\n{table(header, rows)}")
    print(_newly_published(configuration))
    return ExitStatus.DONE


def add(root: Path, *, torch: str, torchvision: str) -> ExitStatus:
    """Install a release with its torchvision, use both, and pin them in asv.conf.json.

    Args:
        root: the checkout.
        torch: release to add.
        torchvision: its release of torchvision; asked of the package index if empty.

    Raises:
        TorchspeedError: the pair cannot be installed or does not fit; nothing is pinned then.
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
            raise TorchspeedError(
                f"{tried.failed}; nothing was pinned, "
                "try another release of torchvision with --torchvision"
            )
        print(f"added {add_release(root, torch, vision)} to asv.conf.json")
    return ExitStatus.DONE


def measure(root: Path, *, release: str, machine: str, cases: str, again: bool) -> ExitStatus:
    """Compare each release with its predecessor where that is missing; store the results.

    Args:
        root: the checkout, all of whose releases run the package of HEAD.
        release: the only release to compare; all if empty.
        machine: name of this machine; the host's if empty.
        cases: regular expression of cases; the short set if empty.
        again: measure what is stored once more.

    Raises:
        TorchspeedError: the checkout cannot be measured, or there is no such pair of releases.
    """
    selection = matching(cases, otherwise=SHORT).only_times()
    failed, compared = False, 0
    with open_workplace(root, "releases measure", torch="newest", machine=machine) as place:
        preflight.check_room(place.configuration, place.configuration.releases[:2])
        pairs = [pair for pair in neighbours(place) if release in {"", pair.after.torch}]
        if not pairs:
            raise TorchspeedError(
                f"{f'torch {release}' if release else 'the newest release'} has no predecessor "
                'under "releases" in asv.conf.json; `torchspeed releases` lists what is there, '
                "and `torchspeed releases add RELEASE` adds one"
            )
        listed = list_cases(place, place.pairs, selection)
        runs = measure_releases(place, pairs, side(place, "HEAD"), listed, again=again)
        for pair, result in runs:
            compared += 1
            before, after = f"torch {pair.before.torch}", f"torch {pair.after.torch}"
            if isinstance(result, Compared):
                failed |= result.failed
                print(f"\n{compare_report.report(result, before, after)}\n", flush=True)
            else:
                failed = True
                print(f"{after} against {before}: {result}", flush=True)
    if not compared:
        print("nothing is missing: each release is compared with its predecessor")
    return ExitStatus.SOME_CASES_FAILED if failed else ExitStatus.DONE


def _import_cells(release: TriedRelease | None) -> tuple[str, str]:
    if release is None:
        return "", ""
    if release.failed:
        return f"failed: {release.failed}", ""
    best = min(release.import_s)
    return f"{best:.2f}", f"{min(release.import_peak_bytes) / _MIB:.0f}"


def _newly_published(configuration: Configuration) -> str:
    """What the package index offers beyond the newest pinned release; it may be out of reach."""
    try:
        published = package_index.published_releases(configuration.python)
    except TorchspeedError as error:
        return f"newly published: unknown ({error})"
    pinned = {release.torch for release in configuration.releases}
    newest = max(map(release_order, pinned), default=())
    newer = [release for release in published if release_order(release) > newest]
    return f"newly published: {', '.join(newer) if newer else 'none'}"
