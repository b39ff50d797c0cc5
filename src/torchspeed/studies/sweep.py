"""Many trainings in one study of Optuna: a grid of settings, or a search among them.

Optuna's storage hands the points to any number of processes, on any number of machines. A point is
a trial. Heartbeats tell whose process died; the others, or the same command later, run it again.
"""

import itertools
import json
import random
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import sqlalchemy.exc
from optuna.exceptions import ExperimentalWarning
from optuna.storages import RDBStorage, fail_stale_trials
from optuna.trial import FrozenTrial, Trial, TrialState

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.train import train

Point = dict[str, Any]
"""Values of settings, by field of `RunConfig`."""
Outcome = dict[str, Any] | str
"""The result of a training, as `RunResult.as_dict` has it, or why it failed."""
Axes = dict[str, list[Any]]
"""Values of each setting."""

HEARTBEAT_S, DEAD_AFTER_S = 10, 30
"""Seconds between two heartbeats, and without one until a process counts as dead."""

UNREACHED_PENALTY = 10.0
"""A search ranks points that miss the target by this multiple of their training time, which grows
as their accuracy falls."""

_POINT, _RESULT, _REASON, _ASKED = "point", "result", "reason", "asked"
"""Names of attributes of trials, and of the study."""


def grid(axes: Axes) -> list[Point]:
    """Return all combinations of the settings, the last axis fastest."""
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def open_study(
    storage: str, name: str, config: RunConfig | None = None, search: Axes | None = None
) -> optuna.Study:
    """Open the study of a name, or begin it if the options that all points share are given.

    The storage is a SQLite file, or a database's address such as ``postgresql://HOST/DATABASE``.
    ``search`` has the values that a search chooses among; it is None for a grid.

    Raises:
        TorchspeedError: the storage cannot be opened, or has no such study, or its study has
            other options.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", ExperimentalWarning)  # heartbeats
    if config is None and "://" not in storage and not Path(storage).exists():
        raise TorchspeedError(f"no file {storage}; give one that a sweep wrote")
    opened = _open(storage)
    if config is None:
        try:
            return optuna.load_study(study_name=name, storage=opened)
        except KeyError:
            raise TorchspeedError(
                f"{storage} has no sweep {name!r}; give another --name"
            ) from None
    study = optuna.create_study(study_name=name, storage=opened, load_if_exists=True)
    if _ASKED not in study.user_attrs:
        study.set_user_attr(_ASKED, [config.as_dict(), search])
        return study
    asked, among = study.user_attrs[_ASKED]
    difference = config.difference(asked, {"threads"})
    if difference is None and among != search:
        difference = "other settings to search among"
    if difference:
        raise TorchspeedError(
            f"sweep {name!r} in {storage} has {difference}; give the same options, or another "
            "--name"
        )
    return study


def _open(storage: str) -> RDBStorage:
    address = storage if "://" in storage else f"sqlite:///{Path(storage).absolute()}"
    # SQLAlchemy's own choice for PostgreSQL is the older driver.
    address = address.replace("postgresql://", "postgresql+psycopg://", 1)
    for attempts_left in reversed(range(20)):
        try:
            return RDBStorage(address, heartbeat_interval=HEARTBEAT_S, grace_period=DEAD_AFTER_S)
        except ImportError as error:
            raise TorchspeedError(
                f"{storage} cannot be opened ({error}); PostgreSQL needs the Python package "
                "psycopg: pip install 'psycopg[binary]'"
            ) from None
        except (sqlalchemy.exc.SQLAlchemyError, ValueError) as error:
            # Processes that start at once create the tables at once.
            taken = sqlalchemy.exc.IntegrityError | sqlalchemy.exc.ProgrammingError
            conflict = isinstance(error, taken) or "already exists" in str(error)
            if not (conflict and attempts_left):
                reason = str(error).splitlines()[0]
                raise TorchspeedError(
                    f"{storage} cannot be opened ({reason}); give a SQLite file in a folder that "
                    "exists, or the address of a database that runs"
                ) from None
            time.sleep(random.uniform(0.1, 1))  # noqa: S311 - no secret
    raise AssertionError("the last attempt returns or raises")


def outcomes(study: optuna.Study) -> list[tuple[Point, Outcome]]:
    """Return each point with its newest outcome, in the order in which points were added."""
    newest: dict[str, tuple[Point, Outcome]] = {}
    for trial in filter(_counts, study.get_trials(deepcopy=False)):
        if trial.state.is_finished():
            point, attributes = trial.user_attrs[_POINT], trial.user_attrs
            newest[_key(point)] = point, attributes.get(_RESULT) or attributes[_REASON]
    return list(newest.values())


def count_trials(study: optuna.Study) -> int:
    """Count the trials, those of points that were known already included."""
    return sum(map(_counts, study.get_trials(deepcopy=False)))


def _counts(trial: FrozenTrial) -> bool:
    """Tell whether a trial runs or has an outcome: its process was neither stopped nor killed."""
    if trial.state == TrialState.FAIL:
        return _REASON in trial.user_attrs
    return trial.state in (TrialState.RUNNING, TrialState.COMPLETE)


def run(
    study: optuna.Study,
    config: RunConfig,
    axes: Axes,
    search: int | None = None,
    on_outcome: Callable[[Point, Outcome], None] = lambda _point, _outcome: None,
) -> None:
    """Train with every combination of settings, or ``search`` for the least time to accuracy.

    A search makes trials by Optuna's TPE sampler, all processes together; a point that it chooses
    again is not trained again. Points of a grid that failed before are trained once more.
    ``on_outcome`` is called with each point that this process trains.
    """

    def objective(trial: Trial) -> float:
        point: Any = trial.user_attrs.get(_POINT)
        if search is not None:
            point = {name: trial.suggest_categorical(name, axes[name]) for name in axes}
            trial.set_user_attr(_POINT, point)
        elif point is None or _is_second(study, trial):  # other processes took what was left
            raise optuna.TrialPruned
        known = {_key(measured): outcome for measured, outcome in outcomes(study)}
        outcome = known.get(_key(point), "")
        if isinstance(outcome, str):
            outcome = _train(replace(config, **point))
            on_outcome(point, outcome)
        if isinstance(outcome, str):
            trial.set_user_attr(_REASON, outcome)
            raise TorchspeedError(outcome)
        trial.set_user_attr(_RESULT, outcome)
        return cost(outcome)

    known_to_fail = {_key(point) for point, outcome in outcomes(study) if isinstance(outcome, str)}
    while True:
        fail_stale_trials(study)
        if search is None:
            _enqueue(study, grid(axes), known_to_fail)
            known_to_fail = set()
            if not study.get_trials(deepcopy=False, states=[TrialState.WAITING]):
                return
        else:
            counted = count_trials(study)
            if counted >= search:
                return
            study.sampler = optuna.samplers.TPESampler(
                seed=config.seed + counted, constant_liar=True
            )
        study.optimize(objective, n_trials=1, catch=TorchspeedError)


def _enqueue(study: optuna.Study, points: list[Point], again: set[str]) -> None:
    """Let the points wait that no trial has; those to be run ``again`` are taken for new."""
    known = {
        _key(trial.user_attrs[_POINT])
        for trial in study.get_trials(deepcopy=False)
        if trial.state == TrialState.WAITING or (_counts(trial) and _POINT in trial.user_attrs)
    }
    for point in points:
        if _key(point) not in known - again:
            study.enqueue_trial({}, user_attrs={_POINT: point})


def _is_second(study: optuna.Study, trial: Trial) -> bool:
    """Tell whether two processes enqueued the point at once, and this trial came second.

    The storage numbers trials one at a time, so all processes agree which one came first.
    """
    first_may_be = TrialState.WAITING, TrialState.RUNNING, TrialState.COMPLETE
    return any(
        other.number < trial.number and other.user_attrs.get(_POINT) == trial.user_attrs[_POINT]
        for other in study.get_trials(deepcopy=False, states=first_may_be)
    )


def _train(config: RunConfig) -> Outcome:
    try:
        return train(config).as_dict()
    except TorchspeedError as error:
        return str(error)
    except (RuntimeError, MemoryError) as error:  # such as too little memory of a GPU
        return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]


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
