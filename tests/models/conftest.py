"""One thread: the sizes here are too small for two, and CI has two cores for all."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _seeded_on_one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
