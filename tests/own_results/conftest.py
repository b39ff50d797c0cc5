"""This project's own results, read by an auditor: its tests share what takes long to compute."""

from __future__ import annotations

import pytest

from asv_watch.asv.settings import read_configuration
from asv_watch.errors import WatchError
from asv_watch.judge.findings import Findings, analyse
from asv_watch.records.history import History
from asv_watch.records.loading import load_history
from asv_watch.site.contents import in_order
from asv_watch.versions.git import read_commits
from tests.conftest import ROOT
from tests.own_results import auditor


@pytest.fixture(scope="session")
def stored_history() -> History:
    """The committed results of this project, in the order of its site."""
    try:
        configuration = read_configuration(ROOT)
        commits = read_commits(configuration.repository, configuration.branch)
        layout = configuration.declared.layout
        return in_order(load_history(configuration.results, commits, layout=layout))
    except WatchError as error:  # no checkout, or a shallow clone, which lacks what was compared
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def stored_findings(stored_history: History) -> Findings:
    """What the committed results show."""
    return analyse(stored_history)


@pytest.fixture(scope="session")
def audits(stored_findings: Findings) -> dict[str, auditor.Audit]:
    """The committed results of each machine with a history, read by the auditor."""
    audits = {}
    for machine in auditor.MACHINES:
        graphs = stored_findings.graphs[machine]
        between = {
            ("versions", case): graph.between
            for case in graphs.cases
            if (graph := graphs.commits(case)) is not None
        } | {("releases", case): graph.between for case, graph in graphs.releases("torch").items()}
        audits[machine] = auditor.Audit(auditor.read(ROOT / "results" / machine), between)
    return audits
