"""Chooses the cases of a gate: first those that spend their time in changed functions.

Names decide first: benchmarks whose timed body has the name of a changed function, then those
whose setup has it, then those that have the name of a changed file. In this order every case is
called under a profile (`asv_watch.probes.executed`), starting with the first parameters of each
benchmark. Cases are then sorted by the share of their time in changed functions. The profile does
not see compiled code, so there names alone decide.
"""

import ast
import contextlib
import itertools
import json
import math
import signal
import subprocess
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import psutil

from asv_watch import probes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.measuring import FIRST_TOGETHER, MOST_TOGETHER
from asv_watch.engine.workplace import Side
from asv_watch.gate.changes import WORD, Changed
from asv_watch.machine import children
from asv_watch.machine.budget import Budget
from asv_watch.progress import Display, human_time
from asv_watch.text import quantities

SHARE_OF_PROFILING = 0.2
"""Share of the time limit, and later of the remaining time, for profiling cases."""
_IMPORT_SHARE_OF_PROFILING = 0.2
"""Importing a suite may take this share of all profiling."""
_WORTH_MEASURING_FIRST = 0.1
"""Share of the nearest case's share that a case needs to be in the first group."""
_MOST_REASONS = 5
"""Most lines about cases that could not be called."""

_SECONDS_A_CASE = 10
_NEAR = 0.2
"""A case is near if it spends this share of its time in changed functions."""
_ENOUGH_NEAR = 5
"""Once this many near cases are known, they are measured before others are profiled."""
_PATIENCE_S = 10.0
"""Once a near case is known, no longer than this is waited for the next case, such as for its
suite to be imported."""
_SHORTEST_PART = 5
"""Fewest letters of a name that counts as a part of another."""


def rank(
    cases: Sequence[MeasurableCase],
    shares: Mapping[str, float],
    texts: Mapping[str, str],
    changed: Changed,
) -> list[MeasurableCase]:
    """Order cases; leave out those that run nothing of what was changed.

    ``shares`` maps the identity of a case to the share of its time in changed functions; a case
    that could not be profiled has none. ``texts`` maps a benchmark to its source.
    """
    parts = {name: _timed_body_and_rest(name, text) for name, text in texts.items()}
    bodies, rests, whole = [], [], []
    for case in cases:
        body, rest = parts.get(case.benchmark, ("", ""))
        bodies.append(f"{case.name} {body}")
        rests.append(rest)
        whole.append(f"{case.name} {texts.get(case.benchmark, '')}")
    by_nearness = (
        _rarities(bodies, changed.identifiers),
        _rarities(rests, changed.identifiers),
        _rarities(whole, changed.names),
    )
    named = dict(zip(cases, zip(*by_nearness, strict=True), strict=True))

    def nearness(case: MeasurableCase) -> tuple[float, ...]:
        return shares.get(case.identity, 0.0), *named[case]

    def occurrence(case: MeasurableCase) -> int:
        seen[case.benchmark] += 1
        return seen[case.benchmark]

    may_run = [c for c in cases if not (changed.is_traceable and shares.get(c.identity) == 0)]
    seen: Counter[str] = Counter()
    # The first case of every benchmark comes before the second of any.
    return sorted(sorted(may_run, key=nearness, reverse=True), key=occurrence)


def _timed_body_and_rest(benchmark: str, text: str) -> tuple[str, str]:
    name = benchmark.rpartition(".")[2]
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return text, text
    body, rest = [], []
    for node in ast.walk(tree):
        if getattr(node, "name", "") == name:
            body.append(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef):
            rest.append(ast.unparse(node))
    return "\n".join(body) or text, "\n".join(rest)


def _rarities(texts: Sequence[str], names: Collection[str]) -> list[float]:
    """Score texts by the names that they contain; a name that many contain counts less."""
    named = [_named_in(text, names) for text in texts]
    frequency = Counter(itertools.chain.from_iterable(named))
    return [sum(1 / frequency[word] for word in names) for names in named]


def _named_in(text: str, names: Collection[str]) -> set[str]:
    """Return the names that a text contains, also within longer ones; underscores are ignored.

    A function of Python may have other names in C: ``all_distinct``, ``PyIU_AllDistinct`` and
    ``alldistinct.c`` are alike.
    """
    in_text = {_letters(word) for word in WORD.findall(text)}
    return {name for name in names if any(_are_alike(_letters(name), word) for word in in_text)}


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _are_alike(name: str, other: str) -> bool:
    shorter, longer = sorted((name, other), key=len)
    return name == other or (len(shorter) >= _SHORTEST_PART and shorter in longer)


class Profiler(contextlib.AbstractContextManager["Profiler"]):
    """Profiles one case after the other, and pauses while others are measured."""

    def __init__(
        self,
        side: Side,
        cases: Sequence[MeasurableCase],
        changed: Changed,
        import_seconds: float = 60.0,
    ) -> None:
        """Start the process, paused, for the version after the change.

        Cases are profiled in this order; those on CUDA, which cannot fork, are left out, and so
        are those of a suite whose import takes more than ``import_seconds``.
        """
        self.shares: dict[str, float] = {}
        """Maps the identity of a case to the share of its time in changed functions."""
        self.failures: dict[str, str] = {}
        """Maps the identity of a case that could not be called to the reason."""
        self.identities = [case.identity for case in cases if case.can_fork]
        self.is_done = False
        self.count_of_answers = 0
        self._stopped = ""
        """Why the case that is called was stopped."""
        self._folder = tempfile.TemporaryDirectory(prefix="asv-watch-")
        with tempfile.TemporaryFile("w+", encoding="utf-8") as request:
            asked = {
                "changed": changed.functions,
                "cases": self.identities,
                "seconds": _SECONDS_A_CASE,
                "import_seconds": math.ceil(import_seconds),
            }
            json.dump(asked, request)
            request.seek(0)
            self._child = children.Child(
                side.command(probes.EXECUTED, side.source),
                stdin=request,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder.name,
                env=side.variables,
            )
        self._child.send_signal(signal.SIGSTOP)
        pid, stdout = self._child.process.pid, self._child.process.stdout
        assert stdout is not None  # noqa: S101 - PIPE was asked for
        self._lines = children.Lines(stdout, children.memory_limit(), pid)

    def __exit__(self, *error: object) -> None:
        self._child.__exit__(*error)
        self._folder.cleanup()

    def profile_for(self, seconds: float, known: Collection[str] = ()) -> None:
        """Profile cases for some seconds, or until enough more are near; then pause.

        `_ENOUGH_NEAR` are, or fewer if what follows keeps them waiting.
        """
        until = time.monotonic() + seconds
        self._child.send_signal(signal.SIGCONT)
        try:
            while not self.is_done and self._near(known) < _ENOUGH_NEAR:
                patient_until = time.monotonic() + _PATIENCE_S if self._near(known) else until
                try:
                    self._take(self._lines.read(min(until, patient_until)))
                except TimeoutError:
                    break
                except children.TooMuchMemoryError as error:
                    self._stopped = str(error)
                    with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                        profiler = psutil.Process(self._child.process.pid)
                        for process in profiler.children(recursive=True) or [profiler]:
                            process.kill()
        finally:
            self._child.send_signal(signal.SIGSTOP)

    def _near(self, known: Collection[str]) -> int:
        return sum(share >= _NEAR for case, share in self.shares.items() if case not in known)

    def _take(self, line: bytes) -> None:
        self.is_done = not line
        if self.is_done:
            status = self._child.process.wait()
            answered = self.shares.keys() | self.failures.keys()
            missing = [case for case in self.identities if case not in answered]
            if status and missing:
                reason = self._stopped or f"the profiler ended: {children.exit_in_words(status)}"
                self.failures[missing[0]] = reason
            return
        # A line may be cut off, or written by a suite.
        with contextlib.suppress(ValueError, KeyError, TypeError):
            answer = json.loads(line)
            case = str(answer["case"])
            share = float(answer.get("first", answer.get("share", 0.0)))
            if not 0 <= share <= 1:
                return
            if "first" in answer:
                self.shares[case] = share
                return
            self.count_of_answers += 1
            if "share" in answer:
                self.shares[case] = share
            elif case not in self.shares:
                self.failures[case] = self._stopped or str(answer["failed"])
            self._stopped = ""


class Choice:
    """The cases of a gate: those that a diff can have made slower, the nearest first."""

    def __init__(
        self,
        listed: Sequence[MeasurableCase],
        budget: Budget,
        texts: Mapping[str, str] = {},
        changes: Changed | None = None,
        profiling_s: float = 0.0,
    ) -> None:
        """Order the cases by names; without ``changes``, a person chose them as they are listed.

        ``texts`` maps a benchmark to its source. ``profiling_s`` is how many seconds profiling may
        take in all; names alone decide if there are none.
        """
        timed = [case for case in listed if case.is_timed]
        short = [case for case in timed if case.short]
        self._candidates = list(listed) if changes is None else short or timed or list(listed)
        self._texts, self._changes, self._budget = texts, changes, budget
        self._profiling_s = profiling_s if timed else 0.0
        self._profiler: Profiler | None = None
        self._shares: Mapping[str, float] = {}

    @contextmanager
    def profiling(self, head: Side) -> Iterator[None]:
        """Keep a profiler for `profile_for` until the body ends."""
        changes = self._changes
        if not (changes and changes.functions and self._profiling_s > 0):
            yield
            return
        by_name = rank(self._candidates, {}, self._texts, changes)
        import_s = _IMPORT_SHARE_OF_PROFILING * self._profiling_s
        with Profiler(head, by_name, changes, import_s) as self._profiler:
            self._shares = self._profiler.shares
            yield

    def profile_for(self, seconds: float, begun: Collection[str] = ()) -> None:
        """Profile further cases for some seconds, and report their number."""
        profiler, seconds = self._profiler, min(seconds, self._profiling_s)
        if profiler is None or profiler.is_done or seconds <= 0:
            return
        reported = len(profiler.failures)
        measured = {case.identity for case in self._candidates if case.name in begun}
        started = time.monotonic()
        with Display().during("profiling which cases run what changed", self._budget):
            profiler.profile_for(seconds, measured)
        took_s = time.monotonic() - started
        self._profiling_s -= took_s
        near_count = sum(bool(share) for share in profiler.shares.values())
        print(
            f"looked at {profiler.count_of_answers} of "
            f"{quantities.counted(len(profiler.identities), 'case')} in {human_time(took_s)}: "
            f"{near_count} run what changed",
            flush=True,
        )
        cases_of: dict[str, list[str]] = {}
        for case, reason in list(profiler.failures.items())[reported:]:
            cases_of.setdefault(reason, []).append(case)
        most_first = sorted(cases_of.items(), key=lambda of_reason: -len(of_reason[1]))
        for reason, (first, *more) in most_first[:_MOST_REASONS]:
            others = f" and {len(more)} more" if more else ""
            print(f"  not called: {first}{others}: {reason}", flush=True)

    def ranked(self) -> list[MeasurableCase]:
        """List the cases that may run what changed, the nearest first."""
        if self._changes is None:
            return self._candidates
        return rank(self._candidates, self._shares, self._texts, self._changes)

    def next_group(self, begun: Collection[str], fitting: int) -> Sequence[MeasurableCase]:
        """Return the cases to measure next, given the names of begun ones and how many fit.

        The first group has cases that run what was changed, if any are known.
        """
        if not begun:
            return self._first_group(self.ranked()[:FIRST_TOGETHER])
        self.profile_for(self._budget.left_s * SHARE_OF_PROFILING, begun)
        left = [case for case in self.ranked() if case.name not in begun]
        return left[: min(fitting, MOST_TOGETHER)]

    def _first_group(self, nearest: Sequence[MeasurableCase]) -> Sequence[MeasurableCase]:
        """Return those of the nearest cases that spend about as much time in what changed."""
        if self._changes is None or not nearest:
            return nearest
        shares = [self._shares.get(case.identity, 0.0) for case in nearest]
        print("the nearest cases:")
        for case, share in zip(nearest, shares, strict=True):
            note = f" (changed functions: {quantities.share(share)})" if share else ""
            print(f"  {case.name}{note}", flush=True)
        least = _WORTH_MEASURING_FIRST * max(shares)
        return nearest[: sum(share >= least for share in shares)]
