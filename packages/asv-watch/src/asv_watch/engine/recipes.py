"""How samples are taken, as the header of a measurement says it."""

from __future__ import annotations

from collections.abc import Sequence

from asv_watch.engine import processes
from asv_watch.engine.sides import Side


def recipe_of_samples(sides: Sequence[Side]) -> dict[str, float | str]:
    """Return how samples of these versions are taken, whatever the number of rounds."""
    recipe: dict[str, float | str] = {
        "fewest_samples": processes.FEWEST_SAMPLES,
        "most_samples": processes.MOST_SAMPLES,
        "round_s": processes.SECONDS,
    }
    if not all(side.environment.fork_safe for side in sides):
        recipe["processes"] = "all cases one after the other in one"
    if clock := sides[0].environment.declared.clock:
        recipe["clock"] = clock
    return recipe
