"""Measured pairs that disagree with all other ways between their versions.

Where two ways lead from one version to another, their ratios have to agree. Of a hundred pairs one
may differ by more than both intervals allow; more mean that intervals are too narrow.
"""

from __future__ import annotations

from math import log

from asv_watch.judge.graph import MachineGraphs, Node
from asv_watch.site.case_table import CaseTable
from asv_watch.site.scripts import Json
from asv_watch.text import quantities
from asv_watch.text.quantities import counted
from asv_watch.versions.version import VersionKey

_LISTED = 20
_BY_CHANCE = 0.01
"""Share of pairs that disagree beyond 99 % limits only by chance."""


def contradictions(graphs: MachineGraphs, table: CaseTable) -> Json:
    """Return how many measured pairs of a machine were checked, and those that disagree."""
    checks = [
        pair
        for case in graphs.cases
        if (graph := graphs.commits(case)) is not None
        for pair in graph.contradictions()
    ]
    disagreeing = [pair for pair in checks if pair is not None]
    disagreeing.sort(key=lambda pair: -abs(log(pair.found / pair.expected)))
    by_chance = round(_BY_CHANCE * len(checks))
    text = ""
    if checks:
        text = (
            f"{len(disagreeing)} of {counted(len(checks), 'measured pair')} disagree with other "
            f"paths between their versions; {by_chance} would be expected by chance."
        )
    return {
        "checked": len(checks),
        "count": len(disagreeing),
        "by_chance": by_chance,
        "text": text,
        "largest": [
            {
                "case": table.title(pair.case),
                "before": _name(pair.before),
                "after": _name(pair.after),
                "found": quantities.change(pair.found),
                "expected": quantities.change(pair.expected),
            }
            for pair in disagreeing[:_LISTED]
        ],
    }


def _name(node: Node) -> str:
    return f"{node.commit[:8]}, {node.release}" if isinstance(node, VersionKey) else str(node)
