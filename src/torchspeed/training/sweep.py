"""Many runs in one table: a grid of settings, or a search among them.

Each point runs in a process of its own, so that one that runs out of memory or
is killed spoils no other, and none inherits another's warm caches. Each outcome
is appended to a file of JSON lines as soon as it is known: a sweep that is
killed goes on where it stopped, losing at most the point in flight.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import optuna

from torchspeed.errors import TorchspeedError
from torchspeed.files import append_durably
from torchspeed.training.launch import PARENT

Point = dict[str, int | float | str]
"""Setting by option of ``torchspeed train``: workers, batch_size, optimiser, rate."""

_LINE_START = b'{"arguments": ['
"""How every line of a file of outcomes begins."""

UNREACHED_PENALTY = 10.0
"""A search must rank points that miss the target: this many times their training time,
and worse the less accurate they are."""


@dataclass(frozen=True, slots=True)
class MeasuredPoint:
    """A point with its result, or why it failed."""

    point: Point
    result: dict[str, Any] | None
    """What ``torchspeed train --json`` wrote; None for a failed point."""
    reason: str
    """Why it failed; empty where it did not."""


def grid(axes: dict[str, list[Any]]) -> list[Point]:
    """Return all combinations of the settings, the last axis fastest."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


class Sweep:
    """A file of outcomes, and the runs that fill it.

    Args:
        file: JSON lines; made when missing.
        arguments: of ``torchspeed train``, the same for every point.
        timeout_s: after which a point counts as failed; None for never.

    Raises:
        TorchspeedError: the file is of a sweep with other arguments.
    """

    def __init__(self, file: Path, arguments: list[str], timeout_s: float | None = None) -> None:
        self.file = file
        self.arguments = arguments
        self.timeout_s = timeout_s
        self.outcomes: dict[str, MeasuredPoint] = {}
        self._read()

    def run(
        self, points: Iterable[Point], on_outcome: Callable[[MeasuredPoint, bool], None]
    ) -> list[MeasuredPoint]:
        """Measure the points that have no outcome yet.

        Args:
            points: what to run, in order.
            on_outcome: called with each outcome, and whether it was known already.

        Returns:
            The outcomes, in the order of ``points``.
        """
        outcomes = []
        for point in points:
            known = self.outcomes.get(_key(point))
            outcome = known or self._measure(point)
            outcomes.append(outcome)
            on_outcome(outcome, known is not None)
        return outcomes

    def search(
        self,
        axes: dict[str, list[Any]],
        trials: int,
        seed: int,
        on_outcome: Callable[[MeasuredPoint, bool], None],
    ) -> list[MeasuredPoint]:
        """Look for the least time to accuracy with Optuna's TPE sampler.

        Takes up the points that the file knows already: they are replayed, in
        order, before new ones are tried, so a resumed search is the same search.

        Args:
            axes: choices of each setting.
            trials: how many points in all.
            seed: of the sampler.
            on_outcome: as for ``run``.

        Returns:
            The outcomes of the trials, in their order; a setting may come twice.
        """
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(
            direction="minimize", sampler=optuna.samplers.TPESampler(seed=seed)
        )
        outcomes = []
        for _ in range(trials):
            trial = study.ask()
            point: Point = {
                name: trial.suggest_categorical(name, choices) for name, choices in axes.items()
            }
            [outcome] = self.run([point], on_outcome)
            outcomes.append(outcome)
            if outcome.result is None:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, cost(outcome.result))
        return outcomes

    def outcome_of(self, point: Point) -> MeasuredPoint:
        """Return the outcome of a point that was measured.

        Raises:
            KeyError: it was not.
        """
        return self.outcomes[_key(point)]

    def forget_failures(self) -> None:
        """Have the failed points run again."""
        self.outcomes = {k: o for k, o in self.outcomes.items() if o.result is not None}

    def _measure(self, point: Point) -> MeasuredPoint:
        options = [f"--{name.replace('_', '-')}={value}" for name, value in point.items()]
        with tempfile.TemporaryDirectory(prefix="torchspeed-") as folder:
            file = Path(folder) / "result.json"
            command = [sys.executable, "-m", "torchspeed.cli", "train", "--quiet",
                       "--json", str(file), *self.arguments, *options]  # fmt: skip
            try:
                done = subprocess.run(
                    command,
                    env={**os.environ, PARENT: str(os.getpid())},
                    capture_output=True,
                    text=True,
                    timeout=self.timeout_s,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                outcome = MeasuredPoint(point, None, f"took longer than {self.timeout_s:g} s")
            else:
                if done.returncode == 0:
                    outcome = MeasuredPoint(point, json.loads(file.read_text("utf-8")), "")
                else:
                    outcome = MeasuredPoint(point, None, _reason(done))
        self._append(outcome)
        return outcome

    def _append(self, outcome: MeasuredPoint) -> None:
        line = {"arguments": self.arguments, **asdict(outcome)}
        append_durably(self.file, f"{json.dumps(line, allow_nan=False)}\n".encode())
        self.outcomes[_key(outcome.point)] = outcome

    def _read(self) -> None:
        for number, line in self._lines():
            try:
                entry = json.loads(line)
                arguments = entry.pop("arguments")
                outcome = MeasuredPoint(**entry)
            except (ValueError, KeyError, TypeError, AttributeError):
                raise TorchspeedError(
                    f"{self.file}, line {number}: no outcome of a sweep; delete the line, or give "
                    "another file"
                ) from None
            if arguments != self.arguments:
                raise TorchspeedError(
                    f"{self.file} is of a sweep of 'train {' '.join(arguments)}'; give the same "
                    "options, or another file"
                )
            self.outcomes[_key(outcome.point)] = outcome

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Complete lines of the file; a last line that a kill cut short is removed from it.

        Only what begins as our own lines do is removed: any other file stays as it is.

        Raises:
            TorchspeedError: the file cannot be read, or is not of a sweep.
        """
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise TorchspeedError(f"{self.file} cannot be read ({error.strerror})") from None
        complete, _, rest = content.rpartition(b"\n")
        if not rest.startswith(_LINE_START[: len(rest)]):
            raise TorchspeedError(
                f"{self.file} is not a file of sweep outcomes; it was left as it is, so give "
                "another file"
            )
        yield from enumerate(complete.decode("utf-8", "replace").splitlines(), start=1)
        if rest:
            os.truncate(self.file, len(content) - len(rest))


def cost(result: dict[str, Any]) -> float:
    """Return what a search minimises: seconds to the target, or training time without one."""
    columns = result["time_to_accuracy"]
    spent = float(columns["training_function_s"])
    if columns["target_accuracy"] is None:
        return spent
    reached = columns["seconds_to_target"]
    if reached is not None:
        return float(reached)
    return spent * UNREACHED_PENALTY * (2 - (columns["best_test_accuracy"] or 0))


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    lines = done.stderr.strip().splitlines()
    return lines[-1].removeprefix("torchspeed: ") if lines else f"exit status {done.returncode}"
