"""Data of the view *About the data*: machines, noise, what was left out."""

from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from asv_watch.comparison import Outcome
from asv_watch.judge.graph import MachineGraphs, newest_repeats, noise_in_words, ratios_to_first
from asv_watch.records.history import History
from asv_watch.records.records import LeftOut
from asv_watch.site import names
from asv_watch.site.contents import Contents, Setup, Shown
from asv_watch.text import quantities

_BY_CHANCE = 0.01
"""Share of pairs that disagree beyond 99 % limits only by chance."""


def about_data(contents: Contents) -> Shown:
    """Return what the page says about machines and results; a reader's choices do not matter."""
    labels = names.environment_labels(contents.history.environments.values())
    with_runs = [setup.machine.name for setup in contents.setups]
    machines = dict.fromkeys([*with_runs, *contents.history.comparisons])
    return {
        "machines": [_machine(contents, name) for name in machines],
        "setups": [
            (setup, labels[setup.environment.name], _facts(setup, contents.history))
            for setup in contents.setups
        ],
        "events": [
            {
                "c": contents.history.order[event.commit],
                "machine": event.machine,
                "text": names.event_text(event, labels),
            }
            for event in reversed(contents.findings.events)
        ],
        "noise": _noise(contents),
        "left_out": [*contents.history.left_out, *_dismissed(contents)],
        "problems": contents.history.problems,
    }


def _dismissed(contents: Contents) -> Iterator[LeftOut]:
    counts = Counter(
        (contents.history.series[change.series].case.name, change.note.in_words)
        for change in contents.findings.dismissed
        if change.note
    )
    for (case, note), count in counts.items():
        yield LeftOut(case, f"suspected change hidden by results/notes.toml ({note})", count)


def _machine(contents: Contents, name: str) -> Shown:
    """Return the line of a machine: progress, outcomes, smallest detectable change."""
    setups = [setup for setup in contents.setups if setup.machine.name == name]
    newest = max(setups, key=lambda setup: (setup.newest, len(setup.commits)), default=None)
    rows = [row for row in contents.series if row.machine == name]
    outcomes = Counter(row.series.last.outcome for row in rows)
    compared = {
        comparison.case
        for comparison in contents.history.comparisons.get(name, ())
        if len(comparison.measured_sides) > 1
    }
    detectable = contents.findings.detectable.get(name)
    graphs = contents.findings.graphs.get(name)
    return {
        "name": name,
        "href": f"#/?{urlencode({'m': name})}",
        "cpu": contents.history.machines[name].facts.get("cpu", ""),
        "newest": newest.newest if newest else None,
        "commits": len({commit for setup in setups for commit in setup.commits}),
        "failed": outcomes[Outcome.FAILED] + outcomes[Outcome.TIMED_OUT],
        "behind": sum(row.behind > 0 and row.series.last.outcome is Outcome.OK for row in rows),
        "cases": sum(row.last is not None and row.setup == newest.key for row in rows)
        if newest
        else len(compared),
        "detectable": quantities.share(detectable.middle) if detectable else "",
        "contradictions": _contradictions(graphs) if graphs else None,
    }


def _contradictions(graphs: MachineGraphs) -> Shown:
    """Count the measured pairs that disagree with all other paths between their versions."""
    checks = [
        is_contradicted
        for graph in graphs.commits.values()
        for is_contradicted in graph.contradictions()
    ]
    by_chance = round(_BY_CHANCE * len(checks))
    return {"checked": len(checks), "count": sum(checks), "by_chance": by_chance}


def _noise(contents: Contents) -> list[str]:
    sentences = [
        f"Smallest detectable change of an interleaved comparison on {machine}: {detectable}."
        for machine, detectable in contents.findings.detectable.items()
    ]
    for machine, graphs in sorted(contents.findings.graphs.items()):
        repeated = newest_repeats(graphs.comparisons)
        timed = [each for each in repeated if each.metric == "time"]
        if ratios := ratios_to_first(timed, graphs):
            newest = repeated[-1].sitting
            sentences.append(
                f"{machine}, {quantities.day(newest.at)}: {len(ratios)} interleaved comparisons "
                f"of {newest.versions[0].commit[:8]} with itself differ by "
                f"{noise_in_words(ratios)}."
            )
    return sentences


def _facts(setup: Setup, history: History) -> dict[str, str]:
    """Return the facts of a machine and an environment, as the newest run recorded them."""
    measured = history.setups[setup.key].values()
    described = [each.conditions[-1][1] for each in measured if each.conditions]
    facts = {key: value for key, value in setup.machine.facts.items() if value}
    if described:
        conditions = described[-1]
        facts |= {**conditions.machine, **conditions.facts}
        facts |= {f"{key} (before)": value for key, value in _flat(conditions.before).items()}
        facts |= {f"{key} (after)": value for key, value in _flat(conditions.after).items()}
    return facts | setup.environment.variables


def _flat(state: Any, name: str = "") -> dict[str, str]:
    """Flatten a state: ``{"gpus": [{"celsius": 41}]}`` gives ``gpus 0 celsius: 41``."""
    if isinstance(state, dict):
        members = [(str(key), value) for key, value in state.items()]
    elif isinstance(state, list) and any(isinstance(value, dict) for value in state):
        members = [(str(key), value) for key, value in enumerate(state)]
    elif isinstance(state, list):
        return {name: ", ".join(map(str, state))}
    else:
        return {} if state is None else {name: str(state)}
    flat: dict[str, str] = {}
    for key, value in members:
        flat |= _flat(value, f"{name} {key}".strip())
    return flat
