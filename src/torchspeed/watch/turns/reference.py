"""Measures commits interleaved with the reference, and renews the reference.

The reference is a commit with a torch release that asv.conf.json names. Because every commit is
measured in turn with it, the state of the machine cancels in their ratio, and a new machine
continues the series (`torchspeed.watch.analysis.reference_series`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.selection import Selection
from torchspeed.watch.asv.settings import Configuration, Pair
from torchspeed.watch.history.comparisons import Version, read_comparisons
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare import Compared, compare
from torchspeed.watch.turns.sides import PACKAGES, Side, side

_ENTRY = re.compile(r'("reference"\s*:\s*)"[^"]*"')


def reference_side(root: Path, configuration: Configuration) -> Side:
    """The side that everything is measured against.

    Raises:
        TorchspeedError: asv.conf.json names none, or none that exists.
    """
    if not configuration.reference:
        raise TorchspeedError(
            'asv.conf.json names no reference; add a line such as "reference": "COMMIT@RELEASE", '
            "with a commit and a torch release that will stay available"
        )
    try:
        return side(root, configuration, configuration.reference, "newest", root / PACKAGES)
    except TorchspeedError as error:
        raise TorchspeedError(f'"reference" in asv.conf.json: {error}') from error


def measure_against_reference(
    root: Path,
    configuration: Configuration,
    machine: str,
    commits: Sequence[str],
    pairs: Sequence[Pair],
    selection: Selection,
) -> list[Compared]:
    """Measure what is missing of each commit and pair, interleaved with the reference.

    A case that has a stored ratio for the same reference, commit, pair and machine is not
    measured again, and neither is one that was skipped. An interrupt keeps the finished cases.

    Args:
        root: the checkout.
        configuration: of the checkout.
        machine: name under which results are stored.
        commits: hashes, or names that git resolves.
        pairs: environments in which each commit is measured.
        selection: of them, the cases that time something are measured.

    Returns:
        The comparisons that were made.

    Raises:
        TorchspeedError: there is no reference, no such commit, or no case ran in any of them.
    """
    reference = reference_side(root, configuration)
    after = [
        side(root, configuration, commit, pair.torch, root / PACKAGES)
        for commit in commits
        for pair in pairs
    ]
    assert reference.version is not None  # noqa: S101 - it is no working tree
    cases = list_cases(
        root, [reference.pair, *pairs], machine, selection, reference.version.commit
    )
    compared: list[Compared] = []
    errors: list[TorchspeedError] = []
    for target in after:
        known = _measured(configuration.results, machine, reference.version, target.version)
        missing = [case for case in cases if case.name not in known]
        if target.version == reference.version or not missing:
            continue
        print(f"{target.name}\n  against the reference, {reference.name}", flush=True)
        try:
            compared.append(
                compare(configuration, (reference, target), machine, missing, "reference")
            )
        except TorchspeedError as error:  # one commit that cannot run must not stop the others
            print(f"  {error}", flush=True)
            errors.append(error)
    if errors and not compared:
        raise errors[0]
    return compared


def _measured(results: Path, machine: str, reference: Version, target: Version | None) -> set[str]:
    """Names of the cases that need no further measurement."""
    return {
        name
        for comparison in read_comparisons(results)[0]
        if comparison.header.kind == "reference"
        and comparison.header.machine == machine
        and (comparison.header.before, comparison.header.after) == (reference, target)
        for name in (
            *(case.case for case in comparison.ratios),
            *(case.case for case in comparison.unmeasured if case.skipped),
        )
    }


def renew_reference(
    root: Path, configuration: Configuration, machine: str, target: str, selection: Selection
) -> Compared:
    """Measure a new reference against the old one, then name it in asv.conf.json.

    The comparison links the series before and after. A case that has no ratio in it starts a
    new series.

    Args:
        root: the checkout.
        configuration: of the checkout.
        machine: name under which results are stored.
        target: the new reference, ``COMMIT@RELEASE``.
        selection: cases of the link; they should be those of the series.

    Raises:
        TorchspeedError: there is no old reference or no such target, they are the same, a case
            failed (asv.conf.json then stays as it was), or asv.conf.json cannot be changed.
    """
    old = reference_side(root, configuration)
    new = side(root, configuration, target, "newest", root / PACKAGES)
    if old.version is None or new.version is None:
        raise TorchspeedError("a reference is a commit; commit the changes of src/ first")
    if old.version == new.version:
        raise TorchspeedError(f"{new.name} is the reference already")
    path = root / "asv.conf.json"
    text = path.read_text(encoding="utf-8")
    entry = f'"{new.version.commit}@{new.version.torch}"'
    changed, count = _ENTRY.subn(lambda found: found.group(1) + entry, text)
    if count != 1:
        raise TorchspeedError(
            f'asv.conf.json has {count} entries "reference" on one line; leave exactly one'
        )
    cases = list_cases(root, [old.pair, new.pair], machine, selection, old.version.commit)
    compared = compare(configuration, (old, new), machine, cases, "reference")
    if compared.failed:
        raise TorchspeedError(
            "a case failed, so its series could not be linked; the reference stays as it was"
        )
    path.write_text(changed, encoding="utf-8")
    return compared
