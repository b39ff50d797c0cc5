"""Many trainings in one study of Optuna: a grid of settings, or a search among them.

Any number of workers, on any number of machines, take points from the study's storage. A point is
a trial: it waits until a worker takes it, and is finished with its result. While a point runs, its
worker counts a heartbeat up; a worker that has nothing else to do watches the heartbeats of the
others, and gives a point back whose heartbeat has stopped. (Optuna's own heartbeats work only in
databases and inside ``optimize``, not in journals or with ``ask``.)
"""

from __future__ import annotations

import itertools
import json
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, Trial, TrialState

from torchspeed.data.options import DataOptions
from torchspeed.errors import TorchspeedError
from torchspeed.studies.point import Outcome, run_point
from torchspeed.studies.storage import open_study
from torchspeed.training.config import RunConfig
from torchspeed.training.cores import announce_run

Point = dict[str, int | float | str]
"""Values of settings, by field of `RunConfig` or `DataOptions`."""

BEAT_S, DEAD_AFTER_S = 5.0, 30.0
"""Seconds between two heartbeats, and between two looks at those of others; and the seconds after
which a worker without heartbeat counts as dead."""

UNREACHED_PENALTY = 10.0
"""A search ranks points that miss the target by this multiple of their training time, which grows
as their accuracy falls."""

_DATA_FIELDS = {field.name for field in fields(DataOptions)}
_POINT, _RESULT, _REASON, _BEAT, _CONFIG = "point", "result", "reason", "heartbeat", "config"
"""Names of attributes of trials, and of the study."""


def grid(axes: dict[str, list[Any]]) -> list[Point]:
    """Return all combinations of the settings, the last axis fastest."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def configured(config: RunConfig, point: Point) -> RunConfig:
    """Return a configuration with the settings of a point."""
    own: dict[str, Any] = {n: v for n, v in point.items() if n not in _DATA_FIELDS}
    data: dict[str, Any] = {n: v for n, v in point.items() if n in _DATA_FIELDS}
    return replace(config, **own, data_options=replace(config.data_options, **data))


class Sweep:
    """A study, as one of its workers sees it.

    Args:
        storage: as `open_study` takes it.
        name: of the study.
        config: options that all points share; None only reads the study.
        on_outcome: called with each point of this worker and its outcome.

    Raises:
        TorchspeedError: the study has another configuration, or cannot be read.
    """

    def __init__(
        self,
        storage: str,
        name: str,
        config: RunConfig | None,
        on_outcome: Callable[[Point, Outcome], None] = lambda _point, _outcome: None,
    ) -> None:
        self.study = open_study(storage, name, create=config is not None)
        self._on_outcome = on_outcome
        self._axes: dict[str, list[Any]] = {}
        """Choices of each setting of a search, which the sampler learns from."""
        self._beats: dict[int, tuple[int, float]] = {}
        """Heartbeat of trials that others run, and when it was first seen."""
        if config is None:
            return
        self._config = config
        announce_run()  # from now on, other workers on this machine leave cores to this one
        known = self.study.user_attrs.get(_CONFIG)
        if known is None:
            self.study.set_user_attr(_CONFIG, config.as_dict())
            return
        if difference := config.difference(known, {"threads"}):
            raise TorchspeedError(
                f"sweep {name!r} in {storage} has {difference}; give the same options, or another "
                "--name"
            )

    def outcomes(self) -> list[tuple[Point, Outcome]]:
        """Return each point with its newest outcome, in the order in which points were added."""
        newest: dict[str, tuple[Point, Outcome]] = {}
        for trial in self._trials(TrialState.COMPLETE, TrialState.FAIL):
            attributes = trial.user_attrs
            if _RESULT in attributes or _REASON in attributes:
                outcome = Outcome(attributes.get(_RESULT), attributes.get(_REASON, ""))
                newest[_key(attributes[_POINT])] = attributes[_POINT], outcome
        return list(newest.values())

    def retry_failed(self) -> None:
        """Queue the failed points to run again."""
        for point, outcome in self.outcomes():
            if outcome.result is None:
                self._add(point)

    def run(self, points: Iterable[Point]) -> None:
        """Work until every point, in their order, has an outcome, from this worker or another."""
        wanted = {_key(point): point for point in points}
        while True:
            for point in self._missing(wanted):
                self._add(point)
            if (trial := self._take()) is not None:
                self._measure(trial, trial.user_attrs[_POINT])
            elif self._trials(TrialState.RUNNING):
                self._wait_for_others()
            elif not self._trials(TrialState.WAITING) and not self._missing(wanted):
                return

    def search(self, axes: dict[str, list[Any]], trials: int, seed: int) -> None:
        """Look for the least time to accuracy with Optuna's TPE sampler.

        All workers together make ``trials`` trials of the values in ``axes``. The sampler's seed
        depends on how many trials exist, so one worker's search goes on the same when resumed.
        """
        self._axes = axes
        while True:
            if (waiting := self._take()) is not None:
                self._measure(waiting, waiting.user_attrs[_POINT])
                continue
            counted = self._counted()
            if len(counted) >= trials:
                if not self._trials(TrialState.RUNNING):
                    return
                self._wait_for_others()
                continue
            self.study.sampler = optuna.samplers.TPESampler(
                seed=seed + len(counted), constant_liar=True
            )
            trial = self.study.ask()
            earlier = [other for other in self._counted() if other.number < trial.number]
            if len(earlier) >= trials:  # another worker asked at the same time
                self.study.tell(trial, state=TrialState.PRUNED)
                continue
            point = self._suggested(trial)
            trial.set_user_attr(_POINT, point)
            known = {_key(measured): outcome for measured, outcome in self.outcomes()}
            if (outcome := known.get(_key(point))) is None:
                self._measure(trial, point)
            else:
                self._store(trial, outcome)

    def _suggested(self, trial: Trial) -> Point:
        """Return the settings of a trial of a search, new or given back."""
        return {name: trial.suggest_categorical(name, axis) for name, axis in self._axes.items()}

    def _trials(self, *states: TrialState) -> list[FrozenTrial]:
        return self.study.get_trials(deepcopy=False, states=states)

    def _counted(self) -> list[FrozenTrial]:
        """Return the trials of a search, without those that were given back or never begun."""
        trials = self._trials(TrialState.RUNNING, TrialState.COMPLETE, TrialState.FAIL)
        return [t for t in trials if t.state != TrialState.FAIL or _REASON in t.user_attrs]

    def _missing(self, wanted: dict[str, Point]) -> list[Point]:
        known = {_key(point) for point, _ in self.outcomes()}
        open_trials = self._trials(TrialState.WAITING, TrialState.RUNNING)
        known |= {_key(trial.user_attrs.get(_POINT)) for trial in open_trials}
        return [point for key, point in wanted.items() if key not in known]

    def _add(self, point: Point) -> None:
        self.study.enqueue_trial(point if self._axes else {}, user_attrs={_POINT: point})

    def _take(self) -> Trial | None:
        """Take the first point that waits; None where there is none."""
        while self._trials(TrialState.WAITING):
            trial = self.study.ask()
            point = trial.user_attrs.get(_POINT)
            # None: another worker took the last one. Two workers that begin at once add a point
            # twice, and the first trial counts.
            if point is not None and not self._is_known(point, trial.number):
                self._suggested(trial)
                return trial
            self.study.tell(trial, state=TrialState.PRUNED)
        return None

    def _is_known(self, point: Point, number: int) -> bool:
        return any(
            _key(trial.user_attrs.get(_POINT)) == _key(point)
            and (trial.state == TrialState.COMPLETE or trial.number < number)
            for trial in self._trials(TrialState.COMPLETE, TrialState.RUNNING)
            if trial.number != number
        )

    def _measure(self, trial: Trial, point: Point) -> None:
        """Run a point and store its outcome; a worker that is stopped gives it back."""
        beats = itertools.count(1)
        previous_handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            outcome = run_point(
                configured(self._config, point),
                BEAT_S,
                lambda: trial.set_user_attr(_BEAT, next(beats)),
            )
            self._store(trial, outcome)
        except UpdateFinishedTrialError:  # this worker slept so long that others took it for dead
            return
        except BaseException:
            self._give_back(trial.number, point)
            raise
        finally:
            signal.signal(signal.SIGTERM, previous_handler)
        self._on_outcome(point, outcome)

    def _store(self, trial: Trial, outcome: Outcome) -> None:
        if outcome.result is None:
            trial.set_user_attr(_REASON, outcome.reason)
            self.study.tell(trial, state=TrialState.FAIL)
        else:
            trial.set_user_attr(_RESULT, outcome.result)
            self.study.tell(trial, cost(outcome.result))

    def _wait_for_others(self) -> None:
        """Wait a moment, and give back the points of workers that died."""
        time.sleep(BEAT_S)
        now = time.monotonic()
        for trial in self._trials(TrialState.RUNNING):
            beat = trial.user_attrs.get(_BEAT, 0)
            seen, since = self._beats.get(trial.number, (-1, now))
            if seen != beat:
                self._beats[trial.number] = beat, now
            elif now - since > DEAD_AFTER_S:
                self._give_back(trial.number, trial.user_attrs.get(_POINT))

    def _give_back(self, number: int, point: Point | None) -> None:
        try:
            self.study.tell(number, state=TrialState.FAIL)
        except (ValueError, UpdateFinishedTrialError):  # somebody else did
            return
        if point is not None:
            self._add(point)


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


def _key(point: Point | None) -> str:
    return json.dumps(point, sort_keys=True)
