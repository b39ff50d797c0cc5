"""Peers are what they are called, and the comparison reports what it timed."""

from __future__ import annotations

import re

import pytest
import torch

from tools.compare_peers import PEERS, Contest, main, ratio
from torchspeed.workloads import get_workload

RATIO = r"\d+\.\d\dx \[\d+\.\d\d, \d+\.\d\d\]"


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_takes_the_inputs_and_fits_the_targets(name: str) -> None:
    contest = Contest(get_workload(name), PEERS[name], compiled=False)
    assert [peer.name for peer in contest.peers] == [*PEERS[name], "eager"]
    shapes = {peer.call(contest.plain[:3]).shape for peer in contest.peers}
    assert shapes == {(3, get_workload(name).outputs)}


@pytest.mark.parametrize("name", ["flux_cnn", "lenet5"])
def test_the_classifiers_naive_order_is_the_same_function(name: str) -> None:
    contest = Contest(get_workload(name), PEERS[name], compiled=False)
    naive, ours = (peer.call(contest.plain[:5]) for peer in contest.peers)
    torch.testing.assert_close(naive, ours)


def test_a_peers_backward_pass_reaches_all_of_its_parameters() -> None:
    for name in PEERS:
        contest = Contest(get_workload(name), PEERS[name], compiled=False)
        contest.inputs = contest.inputs[:2].detach().requires_grad_()
        contest.targets = contest.targets[:2]
        for peer in contest.peers:
            contest.run(peer, "backward")  # raises for a parameter that has no part


def test_what_drops_out_is_timed_in_training_as_well() -> None:
    contest = Contest(get_workload("dsanet"), PEERS["dsanet"], compiled=False)
    assert contest.passes[-1] == "training"
    contest.inputs, contest.plain = contest.inputs[:4].detach().requires_grad_(), contest.plain[:4]
    contest.targets = contest.targets[:4]
    for which in contest.passes:
        contest.times(which, 0)
        assert {peer.model.training for peer in contest.peers} == {which == "training"}
    assert "training" not in Contest(get_workload("darnn"), PEERS["darnn"], compiled=False).passes


def test_a_ratio_is_the_median_of_the_rounds_with_their_quartiles() -> None:
    assert ratio([2.0, 4.0, 6.0, 8.0, 10.0], [2.0] * 5) == "3.00x [2.00, 4.00]"
    # Rounds are compared with themselves: a load that doubles a round changes nothing.
    assert ratio([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]) == "2.00x [2.00, 2.00]"


def test_the_table_has_a_line_a_model_and_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tpa_lstm", "lenet5", "--seconds", "0.01"]) == 0
    printed = capsys.readouterr().out
    assert f"torch {torch.__version__}, one thread; load " in printed
    for which in ("forward", "recorded", "backward"):
        assert re.search(
            rf"\| tpa_lstm \| {which} \| [\d.]+ ms \| {RATIO} \| {RATIO} \| ", printed
        )
        assert re.search(rf"\| lenet5 \| {which} \| [\d.]+ ms \| {RATIO} \|  \| ", printed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["resnet18"], "no peers for model 'resnet18'; there are darnn, dsanet, lstnet,"),
        (["--seconds", "0"], "--seconds is 0.0; it must be more than 0"),
        (["--seconds", "nan"], "--seconds is nan; it must be more than 0"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"torchspeed: {message}")
    assert printed.err.count("\n") == 1
