"""Utilisation is a ratio of two rates that the same seconds saw."""

from __future__ import annotations

import torch

from torchspeed.measure.peak import Peak
from torchspeed.measure.utilisation import utilisation_of


def test_a_real_pass_has_a_share_of_the_real_peak() -> None:
    torch.set_num_threads(1)
    measured = utilisation_of("lenet5", Peak("cpu", sizes=[256]), 16)
    for reached in (measured.forward, measured.backward):
        assert 0.001 < reached.share_of_peak < 1.2
        assert 1e7 < reached.flops_per_second < 1e13
