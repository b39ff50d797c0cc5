"""Lists the cases of the suites that may run here, with what each of them measures."""

import contextlib
import json
import math
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from asv_watch import probes
from asv_watch.asv.declared import Declared
from asv_watch.asv.environments import make_environment
from asv_watch.asv.selection import Selection, cases_of, in_short_set
from asv_watch.engine.workplace import Side, Workplace
from asv_watch.errors import ExitStatus, MachineError, WatchError
from asv_watch.machine.children import (
    Child,
    Lines,
    TooMuchMemoryError,
    exit_in_words,
    memory_limit,
)
from asv_watch.machine.commands import find_cause
from asv_watch.machine.facts import gpu_is_plainly_absent
from asv_watch.records.asv_files import is_higher_better
from asv_watch.records.records import benchmark_of, case_name

_WORTH_SAYING_S = 10.0
"""A listing that takes longer is reported, because each round imports the suites too."""
Benchmarks = list[dict[str, Any]]
"""Entries of asv's list."""
_ALL = ""
"""Stands for all suites in a map of failures: none of them can be imported."""


class Listing(NamedTuple):
    """The benchmarks of the suites, and which suites could not be imported."""

    benchmarks: Benchmarks
    failures: Mapping[str, str]
    """Maps a suite that cannot be imported with the side that lists, such as ``linalg``, to the
    error. If another side can import it, its benchmarks are among those listed."""
    left_out: tuple[str, ...] = ()
    """The suites that cannot be imported with any side."""


Measures = Literal["time", "memory", "count", "value"]
"""``memory`` is the peak of a process, ``count`` a value that every process repeats, and ``value``
any other that a ``track_*`` gives."""


@dataclass(frozen=True, slots=True)
class MeasurableCase:
    """A case of the suites, what it measures, and how it is started."""

    name: str
    """asv's name: ``suite.Class.time_x('darnn', 'cpu')``."""
    identity: str
    """The benchmark's name and the case's index: ``suite.Class.time_x-0``."""
    timeout: float
    """Seconds in which a timed case has to get ready, and then to take each sample; in which any
    other case has to give its value, the ``setup_cache`` of its suite included."""
    measures: Measures = "time"
    unit: str = "seconds"
    higher_is_better: bool = False
    version: str = ""
    """Version of its benchmark, as asv stores it."""
    rounds: int = 1
    """Number of processes in a run without a comparison, as its suite says."""
    short: bool = True
    can_fork: bool = True
    """Whether a fork may measure it: a GPU needs a process that never forked."""
    threshold: str = ""
    """Smallest slowdown that fails the gate, such as ``5%``; empty for the general threshold."""
    ignored: str = ""
    """Why the gate leaves it out; empty if it does not."""
    cannot_run: str = ""
    """Why it cannot run here, as far as asv's list tells; empty if it can."""
    cache_timeout: float = 0.0
    """Seconds in which the ``setup_cache`` of its suite has to end, before it gets ready."""
    process: str = ""
    """Cases with equal `process` share one process per side and are measured one after the other;
    timed ones in forks of it, where forks are as fast."""
    sides: tuple[str, ...] = ()
    """The case of each side where they differ (`asv_watch.comparison.Comparison.cases`)."""

    @property
    def is_timed(self) -> bool:
        """Whether it times something."""
        return self.measures == "time"

    @property
    def benchmark(self) -> str:
        """Its name without parameters: ``suite.Class.time_x``."""
        return benchmark_of(self.name)


def list_cases(
    workplace: Workplace, sides: Sequence[Side], selection: Selection, *wanted: Measures
) -> list[MeasurableCase]:
    """Make missing environments, and list the cases of the wanted kinds.

    Raises:
        WatchError: no case of these kinds matches and can run here, or asv failed.
    """
    listing = list_benchmarks(workplace, sides, selection.pattern)
    return choose_cases(listing.benchmarks, selection, workplace.declared, *wanted)


def list_benchmarks(
    workplace: Workplace, sides: Sequence[Side], pattern: str = "", import_s: float = math.inf
) -> Listing:
    """Make missing environments, and list the suites' benchmarks.

    If the pattern begins with ``^`` and the name of a module, no other is imported. The last side
    lists them, and earlier sides list the suites that it cannot import. A line on standard error
    names each suite that no side can import. Importing one may take ``import_s``, or what
    asv.conf.json allows if that is less.

    Raises:
        WatchError: an environment cannot be made, two sides import the project from one folder,
            no suite can be imported, or a suite imports the package from elsewhere.
    """
    import_folders(workplace, sides)
    declared = workplace.declared
    modules = _named_module(sides[-1].suites, pattern)
    benchmarks, failures = _list_in(sides[-1], declared, modules, import_s)
    left_out = failures
    for other in reversed(sides[:-1]):
        if left_out:
            named = modules if _ALL in left_out else sorted(left_out)
            found, left_out = _list_in(other, declared, named, import_s)
            benchmarks = [*benchmarks, *found]
    failures = left_out | failures
    for suite in left_out:
        reason = failures[suite]
        line = f"suite {suite} cannot be imported: {reason}" if suite else reason
        if not benchmarks:
            raise WatchError(line)
        print(line, file=sys.stderr, flush=True)
    return Listing(benchmarks, failures, tuple(left_out))


def import_folders(workplace: Workplace, sides: Sequence[Side]) -> list[str]:
    """Make missing environments, and return `Side.imported_from` of each side.

    Raises:
        WatchError: an environment cannot be made, or two packages are imported from one folder.
    """
    specs = {(side.environment.name, side.environment.folder): side.environment for side in sides}
    for spec in specs.values():
        make_environment(workplace.root, workplace.configuration.repository, spec)
    project, found = workplace.configuration.project.name, dict[str, Side]()
    folders = [side.imported_from(project) for side in sides]
    for side, folder in zip(sides, folders, strict=True):
        other = found.setdefault(folder, side)
        if folder and other.source != side.source:
            raise WatchError(
                f"{other.name} and {side.name} import the same {project}, from {folder}; let asv "
                'build the commits: without --python, "build_command" and "install_command"'
            )
    return folders


def _named_module(suites: Path, pattern: str) -> list[str]:
    """Return the module at the start of a pattern (``^plain.Suite``); else none, for all of them.

    Importing a module may take half a minute.
    """
    match = re.match(r"\^(\w+)\\?\.(?![*+?{])", pattern)
    if match is None or "|" in pattern:
        return []
    files = suites / f"{match[1]}.py", suites / match[1] / "__init__.py"
    return [match[1]] if any(file.is_file() for file in files) else []


def _list_in(
    side: Side, declared: Declared, modules: Sequence[str], import_s: float
) -> tuple[Benchmarks, dict[str, str]]:
    """List the benchmarks of modules, or of all, and say why others cannot be imported."""
    answers = _import_all(side, modules, min(declared.import_timeout, import_s))
    benchmarks: Benchmarks = []
    failures: dict[str, str] = {}
    for module, answer in sorted(answers.items()):
        suite = module.partition(".")[2]
        if "elsewhere" in answer:
            name, file = min(answer["elsewhere"].items())
            raise WatchError(
                f"the suites import {name} from {file}, not from the commit, so that both sides "
                f"would be the same; in suite {suite or module}, write sys.path.append(folder) "
                "instead of putting it first"
            )
        benchmarks += map(declared.describe, answer.get("benchmarks", ()))
        if "failed" in answer:
            cause = find_cause(answer["failed"], installs=False)
            if isinstance(cause, MachineError):
                raise cause
            failing = [suite] if suite else modules or [_ALL]
            failures.update(dict.fromkeys(failing, str(cause)))
    seconds = sum(answer["seconds"] for answer in answers.values())
    if seconds > _WORTH_SAYING_S:
        slowest_s, module = max((answer["seconds"], name) for name, answer in answers.items())
        slowest = f"{module.partition('.')[2] or module} ({slowest_s:.0f} s)"
        print(f"importing the suites took {seconds:.0f} s; the slowest: {slowest}", flush=True)
    return benchmarks, failures


def _import_all(side: Side, modules: Sequence[str], limit_s: float) -> dict[str, dict[str, Any]]:
    """Import the folder of the suites, then the modules or all; return the answer about each.

    `asv_watch.probes.listing` describes an answer, which has the ``seconds`` that it took too. One
    process imports all, and a new one goes on where it ended. A module with which it was killed,
    such as for its memory, is imported once more if others were imported before.
    """
    root = side.suites.name
    left, answers = [root], dict[str, dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        file = Path(folder, "answer.json")
        while left:
            first = left[0]
            with Child(
                side.command(probes.LISTING, file, side.source),
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=side.variables,
            ) as child:
                assert child.process.stdout is not None  # noqa: S101 - PIPE was asked for
                lines = Lines(child.process.stdout, memory_limit(), child.process.pid)
                while left and child.process.returncode is None:
                    name, began = left[0], time.monotonic()
                    answer, is_killed = _ask(child, lines, name, file, limit_s)
                    if is_killed and name != first:
                        continue
                    del left[0]
                    answers[name] = answer | {"seconds": time.monotonic() - began}
                    if name == root and modules and "failed" not in answer:
                        left += [f"{root}.{module}" for module in modules]
                    else:
                        left += answer.get("below", ())
    return answers


def _ask(
    child: Child, lines: Lines, module: str, file: Path, limit_s: float
) -> tuple[dict[str, Any], bool]:
    """Return the answer about a module, and whether the process was killed before it gave one."""
    assert child.process.stdin is not None  # noqa: S101 - PIPE was asked for
    with contextlib.suppress(BrokenPipeError):  # it has just ended
        child.process.stdin.write(f"{module}\n".encode())
    try:
        if lines.read(time.monotonic() + limit_s):
            answer: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return answer, False
    except TimeoutError:
        child.kill()
        reason = (
            f'importing it takes more than {limit_s:g} s; raise "import_timeout" (seconds) in '
            "asv.conf.json, for a gate also --limit"
        )
        return {"failed": reason}, False
    except TooMuchMemoryError as error:
        child.kill()
        return {"failed": str(error)}, True
    child.kill()
    status = child.process.returncode
    reason = f"its process ended: {exit_in_words(status)}"
    return {"failed": reason}, status == -signal.SIGKILL


def choose_cases(
    benchmarks: Benchmarks,
    selection: Selection,
    declared: Declared,
    *wanted: Measures,
    needed: bool = True,
) -> list[MeasurableCase]:
    """Return the selected cases of the wanted kinds, or of all, that may run here; times first.

    Raises:
        WatchError: no case is left, although one is needed.
    """
    selected = select_cases(benchmarks, selection, declared)
    runnable = [case for case in selected if not case.cannot_run]
    cases = [case for case in runnable if not wanted or case.measures in wanted]
    if needed and not cases:
        raise WatchError(_nothing_chosen(selection, runnable))
    # GPU cases come one after the other, because they share a process of their own.
    return sorted(cases, key=lambda case: (not case.is_timed, not case.can_fork))


def _nothing_chosen(selection: Selection, others: Sequence[MeasurableCase]) -> str:
    matches = f"matches {selection}" if str(selection) else "is in the suites"
    if not others:
        return f"no case that times something here {matches}; `asv show` names those measured"
    words = Counter(
        "measure peak memory" if case.measures == "memory" else "track a value" for case in others
    )
    listed = " and ".join(f"{count} {what}" for what, count in words.items())
    return (
        f"no case that times something here {matches}: {listed}; "
        "`asv-watch compare --values --fail-if-slower` compares these"
    )


def select_cases(
    benchmarks: Benchmarks, selection: Selection, declared: Declared
) -> Iterator[MeasurableCase]:
    """Yield the selected cases, as suites order them, also those that cannot run here."""
    in_order = sorted(
        benchmarks, key=lambda benchmark: (benchmark.get("position", 5), str(benchmark["name"]))
    )
    kinds: dict[str, Measures] = {
        "time": "time",
        "peakmemory": "memory",
        "memory": "value",  # the size of what `mem_*` returns
        "track": "value",
    }
    for benchmark in in_order:
        measures = kinds.get(benchmark["type"])
        if measures is None:
            continue
        if measures == "value" and benchmark.get("exact"):
            measures = "count"
        timeout = benchmark.get("timeout") or declared.default_benchmark_timeout
        cache_timeout = benchmark.get("setup_cache_timeout") or 0.0
        if measures != "time":
            timeout = max(timeout, cache_timeout)
        for index, params in enumerate(cases_of(benchmark)):
            if selection.includes(benchmark, params):
                name = case_name(benchmark["name"], params)
                identity = f"{benchmark['name']}-{index}" if params else name
                uses_gpu = declared.uses_gpu(name)
                yield MeasurableCase(
                    name=name,
                    identity=identity,
                    timeout=float(timeout),
                    cache_timeout=float(cache_timeout),
                    measures=measures,
                    unit=benchmark["unit"],
                    higher_is_better=is_higher_better(benchmark),
                    version=str(benchmark.get("version", "")),
                    rounds=int(benchmark.get("rounds", 1)) if measures == "time" else 1,
                    short=in_short_set(benchmark, params),
                    can_fork=not uses_gpu,
                    threshold=str(benchmark.get("threshold", "")),
                    ignored=str(benchmark.get("ignore", "")),
                    cannot_run=_cannot_run(benchmark, params, uses_gpu=uses_gpu),
                    process=_process(benchmark, identity, uses_gpu),
                )


def _cannot_run(benchmark: dict[str, Any], params: tuple[str, ...], *, uses_gpu: bool) -> str:
    if uses_gpu and gpu_is_plainly_absent():
        return "no GPU on this machine"
    # asv's list of cases names values by their repr, the decorator's holds the values.
    if any(params == tuple(map(repr, values)) for values in benchmark.get("skip_params", [])):
        return str(benchmark.get("skipped_because") or "skipped by its suite")
    return ""


def _process(benchmark: dict[str, Any], identity: str, uses_gpu: bool) -> str:
    """Name the process that measures a case.

    Peak memory needs a process for each case. CPU times share one process, GPU times another that
    never forks, and values of benchmarks with ``may_fork`` share the first. Other values share a
    process only with those of the same suite and parameters.
    """
    if benchmark["type"] == "peakmemory":
        return identity
    if uses_gpu and benchmark["type"] == "time":
        return "GPU"
    if benchmark["type"] == "time" or benchmark.get("may_fork"):
        return ""
    suite = benchmark["name"].rpartition(".")[0]
    return f"{suite}{identity.removeprefix(benchmark['name'])}"


def find_case(
    workplace: Workplace, sides: Sequence[Side], selection: Selection
) -> tuple[MeasurableCase, ExitStatus]:
    """Return the only timed case that a selection matches, or else the only case of any kind.

    The status is that of a suite that cannot be imported, even if the case is in another one.

    Raises:
        WatchError: no case matches, or several do.
    """
    listing = list_benchmarks(workplace, sides, selection.pattern)
    listed = choose_cases(listing.benchmarks, selection, workplace.declared)
    cases = [case for case in listed if case.is_timed] or listed
    if len(cases) > 1:
        raise WatchError(
            f"{selection.pattern!r} matches {len(cases)} cases, such as {cases[0].name} and "
            f"{cases[1].name}; name one"
        )
    return cases[0], ExitStatus.SOME_CASES_FAILED if listing.left_out else ExitStatus.DONE
