"""Prints the newest changes for an issue or an e-mail."""

from __future__ import annotations

from pathlib import Path

from asv_watch.asv.settings import results_folder, tracked_commits
from asv_watch.checkout import preflight
from asv_watch.exit_status import ExitStatus
from asv_watch.judge.changes import State
from asv_watch.judge.findings import analyse
from asv_watch.publish.damage import report_damage
from asv_watch.records.loading import load_history
from asv_watch.site.report import Markup, write_report


def report(root: Path, *, markup: Markup, state: str, count: int, machine: str) -> ExitStatus:
    """Print changes, those of the newest commits first, and what of the results is damaged.

    Args:
        root: the checkout.
        markup: Markdown or plain text.
        state: ``measured`` or ``suspected``; both if ``all``.
        count: print at most so many.
        machine: whose changes; those of all machines if empty.

    Raises:
        WatchError: there is no checkout, or nothing was ever measured.
    """
    preflight.check_checkout(root)
    history = load_history(results_folder(root), tracked_commits(root))
    wanted = set(State) if state == "all" else {State(state)}
    changes = [
        change
        for change in analyse(history).changes
        if change.state in wanted and machine in {"", history.series[change.series].machine}
    ]
    print(write_report(history, changes[:count], markup) or "no change to report")
    return report_damage(history)
