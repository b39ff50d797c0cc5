"""Data of the view *About the data*: machines, noise, what was left out."""

from __future__ import annotations

from asv_watch import quantities
from asv_watch.judge.precision import newest_repeats, noise_in_words
from asv_watch.site import names
from asv_watch.site.contents import Contents, Setup
from asv_watch.site.scripts import Json


def about_data(contents: Contents) -> Json:
    """Return the tables below the outcomes of all cases."""
    labels = names.environment_labels(contents.history.environments.values())
    return {
        "setups": [_setup(setup, labels[setup.environment.name]) for setup in contents.setups],
        "noise": _noise(contents),
        "left_out": contents.history.left_out,
        "problems": contents.history.problems,
    }


def _noise(contents: Contents) -> list[str]:
    """Say how far the comparisons of each machine can be trusted."""
    sentences = [
        f"Smallest change that an interleaved comparison shows on {machine}: {detectable}."
        for machine, detectable in contents.findings.detectable.items()
    ]
    for machine, comparisons in sorted(contents.history.comparisons.items()):
        repeated = newest_repeats(comparisons)
        if ratios := [ratio for stored in repeated for ratio in stored.times]:
            newest = repeated[-1].header
            sentences.append(
                f"{machine}, {quantities.day(newest.at)}: {len(ratios)} interleaved comparisons "
                f"of {newest.after.commit[:8]} with itself differ by {noise_in_words(ratios)}."
            )
    return sentences


def _setup(setup: Setup, label: str) -> Json:
    """Return a machine with an environment: facts by name, as its newest run recorded them."""
    record = setup.record
    facts = {
        key: value
        for key, value in setup.machine.facts.items()
        if key not in {"machine", "version"} and value
    }
    if record is not None:
        facts |= {**record.machine, **record.environment}
        facts |= {f"{key} (before)": value for key, value in record.before.items()}
        facts |= {f"{key} (after)": value for key, value in record.after.items()}
    return {
        "machine": setup.machine.name,
        "environment": label,
        "commits": len(setup.commits),
        "newest": setup.newest,
        "counts": setup.counts,
        "facts": facts | setup.environment.variables,
    }
