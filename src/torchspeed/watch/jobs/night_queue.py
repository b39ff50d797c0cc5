"""What a night works through, in order of urgency: derived from git, results and releases.

A source of tasks is a function from `Situation` to tasks. `SOURCES` lists them, most urgent
first; what is complete, failed tonight or is set aside is left out by `next_task`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.history.records import Commit
from torchspeed.watch.jobs.attempts import Attempts
from torchspeed.watch.jobs.bisection import bisection_order
from torchspeed.watch.jobs.coverage import Coverage, ReferenceCoverage


@dataclass(frozen=True, slots=True)
class Task:
    """One commit to be measured with one torch pair: by itself, or against the reference."""

    commit: Commit
    pair: Pair
    reason: str
    """Why it is in the queue, such as ``newest commit``."""
    against_reference: bool = False

    @property
    def name(self) -> str:
        """Identifies the task over the nights."""
        reference = " reference" * self.against_reference
        return f"{self.commit.hash} {self.pair.environment}{reference}"

    def __str__(self) -> str:
        reference = " against the reference" * self.against_reference
        return f"{self.commit.hash[:8]} {self.commit.subject} with {self.pair}{reference}"


@dataclass(frozen=True, slots=True)
class Situation:
    """What the queue is derived from."""

    commits: tuple[Commit, ...]
    """Commits of the branch that can change a measured value, oldest first."""
    pairs: tuple[Pair, ...]
    """Pinned torch releases, newest first."""
    coverage: Coverage
    attempts: Attempts
    references: ReferenceCoverage | None = None
    """Without a reference in asv.conf.json nothing is measured against it."""

    def is_set_aside(self, task: Task) -> bool:
        """Whether the task, or every task of its release, failed on too many nights."""
        failures = map(self.attempts.failures.get, (task.name, task.pair.environment))
        return any(failure is not None and failure.set_aside for failure in failures)

    def needs(self, task: Task) -> bool:
        """Whether a task is neither done nor set aside."""
        return not (self.is_done(task) or self.is_set_aside(task))

    def is_done(self, task: Task) -> bool:
        """Whether everything that the task measures is stored."""
        if task.against_reference:
            assert self.references is not None  # noqa: S101 - the queue has no such task then
            return self.references.is_complete(task.commit.hash, task.pair.torch)
        return self.coverage.is_complete(task.commit.hash, task.pair.stored_as)

    def tasks(self) -> Iterator[Task]:
        """Every commit with every release, oldest first, the newest release first."""
        for pair in self.pairs:
            for commit in self.commits:
                yield Task(commit, pair, "older commit")

    def reference_tasks(self) -> Iterator[Task]:
        """Every commit that is measured, newest first, with every release."""
        if self.references is not None:
            for pair in self.pairs:
                for commit in reversed(self.commits):
                    if self.coverage.is_complete(commit.hash, pair.stored_as):
                        yield Task(commit, pair, "missing reference", against_reference=True)


Source = Callable[[Situation], Iterable[Task]]


def newest_commit(situation: Situation) -> Iterator[Task]:
    """The newest commit with the newest release; where that fails, the one before it."""
    for commit in reversed(situation.commits):
        yield Task(commit, situation.pairs[0], "newest commit")
        if situation.coverage.is_complete(commit.hash, situation.pairs[0].stored_as):
            return


def new_releases(situation: Situation) -> Iterator[Task]:
    """The newest commit with each release that was never measured here."""
    for commit in situation.commits[-1:]:
        for pair in situation.pairs:
            if not situation.coverage.has(pair.stored_as):
                yield Task(commit, pair, "new torch release")


def older_commits(situation: Situation) -> Iterator[Task]:
    """Every other commit: with the newest release first, and so that the largest gap shrinks."""
    for pair in situation.pairs:
        tasks = [task for task in situation.tasks() if task.pair == pair]
        known = {place for place, task in enumerate(tasks) if not situation.needs(task)}
        for place in bisection_order(len(tasks), known):
            yield tasks[place]


SOURCES: tuple[Source, ...] = (
    newest_commit,
    new_releases,
    Situation.reference_tasks,
    older_commits,
)


def next_task(
    situation: Situation, tried: Collection[str], unusable: Collection[str]
) -> Task | None:
    """Return the most urgent task, or ``None`` if there is nothing left to do.

    Args:
        situation: what is stored now.
        tried: names of tonight's tasks, which are not tried again.
        unusable: environments that could not be made tonight.
    """
    return next(
        (
            task
            for source in SOURCES
            for task in source(situation)
            if task.name not in tried
            and task.pair.environment not in unusable
            and situation.needs(task)
        ),
        None,
    )
