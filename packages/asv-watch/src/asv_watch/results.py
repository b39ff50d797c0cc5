"""Checks a folder of results, and names each fault.

Loading a history names damaged files too, but reads only the results of a branch. Here the results
of every commit are read, and compared with what describes their machine.
"""

import contextlib
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from asv_watch.asv.conf import load_settings
from asv_watch.comparison import Comparison
from asv_watch.errors import ExitStatus, WatchError
from asv_watch.records.asv_files import SUITE_LIST, DamagedError, read_benchmarks, read_results
from asv_watch.records.history import History, load_history, read_description
from asv_watch.records.records import Benchmark, Problem, benchmark_of
from asv_watch.records.store import file_of, read_record
from asv_watch.versions.git import ask_git
from asv_watch.versions.version import Commit, is_full_hash

_IDENTITY = ("arch", "cpu", "num_cpu")
"""Facts in which descriptions of one machine agree."""


def results(
    action: Annotated[
        Literal["check"], typer.Argument(help="check: name each fault in the files.")
    ],
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="A folder other than asv.conf.json's.")
    ] = "",
) -> ExitStatus:
    """Check the stored results."""
    conf = load_settings(Path.cwd())
    checked = Path(folder or conf.results_dir)
    repository = Path(conf.repo)  # neither an address nor a shallow clone has all commits
    is_complete = ask_git(repository, "rev-parse", "--is-shallow-repository") == "false"
    commits = ask_git(repository, "rev-list", "--all").split() if is_complete else ()
    faults = check_results(checked, conf.declared.machines, frozenset(commits))
    for fault in faults:
        print(f"{fault.path}: {fault.message}")
    print(f"{len(faults) or 'no'} fault{'' if len(faults) == 1 else 's'} in {checked}")
    return ExitStatus.FAILED if faults else ExitStatus.DONE


def check_results(
    results: Path, machines: Collection[str] = (), known: Collection[str] = ()
) -> list[Problem]:
    """Check every file of a results folder.

    Args:
        results: Folder that holds ``benchmarks.json`` and a folder for each machine.
        machines: Names of the machines that may be there, each result with a record of its
            machine; empty if any machine may.
        known: Commits that may be compared, such as those of all branches; empty if any may.

    Returns:
        The faults, each with its file; none if the folder is sound.

    Raises:
        WatchError: There is no such folder.
    """
    if not results.is_dir():
        raise WatchError(f"{results} is not a folder: give asv's results folder")
    hashes: dict[Path, str] = {}
    for path in sorted(results.glob("[!.]*/*.json")):
        with contextlib.suppress(DamagedError):  # loading names it, if it is a result file
            hashes[path] = read_results(path).commit_hash
    benchmarks: dict[str, Benchmark] = {}
    faults: list[Problem] = []
    listed = results / SUITE_LIST
    if os.path.lexists(listed) or any(results.glob("*/*-*.json")):  # comparisons alone need none
        try:
            benchmarks, faults = read_benchmarks(results)
        except WatchError as error:
            faults = [Problem(str(listed), str(error).removeprefix(f"{listed}: "))]
    measured, _ = read_record(results, "", benchmarks)  # loading names what is damaged
    versions = {version for each in measured for version in each.sitting.versions}
    commits = dict.fromkeys([*hashes.values(), *sorted({version.commit for version in versions})])
    history = load_history(results, [Commit(hash_, 0, "") for hash_ in commits], "", benchmarks)
    faults += history.problems
    faults += [
        Problem(str(path), f"commit_hash is {hash_[:80]!r}, not the full hash of its name")
        for path, hash_ in hashes.items()
        if not (is_full_hash(hash_) and hash_.startswith(path.name.partition("-")[0]))
    ]
    faults += _faults_of_units(results, measured, benchmarks)
    faults += _lost_commits(results, measured, known) if known else ()
    for folder in sorted(path for path in results.glob("[!.]*") if path.is_dir()):
        faults += _faults_of_machine(folder, machines, history)
    return faults


def _lost_commits(
    results: Path, measured: Iterable[Comparison], known: Collection[str]
) -> Iterator[Problem]:
    """Yield a problem for each compared commit that is not known, and how to drop what it has."""
    lost = {
        (file_of(results, each.sitting), version.commit)
        for each in measured
        for version in each.sitting.versions
        if len(each.sitting.versions) > 1 and version.commit not in known
    }
    for path, commit in sorted(lost):
        file, kept = shlex.quote(str(path)), shlex.quote(f"{path}.new")
        begins = f'/^."sitting"/ {{lost = /{commit}/ && !/"kind":"run"/}}'
        remedy = f"awk '{begins} !lost' {file} > {kept}"
        yield Problem(
            str(path),
            f"no branch or tag contains the compared commit {commit} (any more); "
            f"`{remedy} && mv {kept} {file}` drops its comparisons",
        )


def _faults_of_units(
    results: Path, measured: Iterable[Comparison], benchmarks: Mapping[str, Benchmark]
) -> Iterator[Problem]:
    """Yield a problem for each case whose unit in the record is not that of its suite."""
    known = {
        (each.sitting.machine, each.case, each.unit, benchmark.unit)
        for each in measured
        if each.rounds
        and (benchmark := benchmarks.get(benchmark_of(each.case)))
        and each.unit != benchmark.unit
    }
    for machine, case, unit, declared in sorted(known):
        message = f"the record has {case} in {unit!r}, its suite in {declared!r}"
        yield Problem(str(results / machine), message)


def _faults_of_machine(
    folder: Path, machines: Collection[str], history: History
) -> Iterator[Problem]:
    """Yield contradictions to a machine's description and, if not empty, to a list of machines."""
    path = folder / "machine.json"
    facts: dict[str, Any] = {}
    with contextlib.suppress(DamagedError):  # loading names it
        facts = read_description(path)
        if facts["machine"] != folder.name:
            yield Problem(str(path), f"it names the machine {facts['machine']!r}")
    if not machines:
        return
    if folder.name not in machines:
        message = f'{folder.name} is not listed under "machines" of asv.conf.json'
        yield Problem(str(folder), message)
    for (machine, environment), setup in history.setups.items():
        if machine != facts.get("machine", folder.name):
            continue
        for commit, measured in setup.items():
            run = str(folder / f"{commit[:8]}-{environment}.json")
            if not measured.conditions:
                yield Problem(run, "no record says where it was measured")
                continue
            _, conditions = measured.conditions[-1]
            for name, value in conditions.machine.items():
                if name in _IDENTITY and value != str(facts.get(name, value)):
                    yield Problem(run, f"{name} is {value!r}, but machine.json says otherwise")
