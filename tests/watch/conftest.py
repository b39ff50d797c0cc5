from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from tests.watch.generator import Generated, Plan, generate
from torchspeed.watch.history.git import read_commits
from torchspeed.watch.history.loading import load_history

# A busy machine is no error: times that matter are measured as CPU time, where they matter.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The project's suites over 60 commits, on two machines, with two torch pairs."""
    return generate(tmp_path_factory.mktemp("history"), Plan())


@pytest.fixture(scope="session")
def history(generated: Generated) -> Any:
    return load_history(generated.results, read_commits(generated.repository))
