"""Detectors, transformers and graph networks of FluxBench compute what their papers say."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn
from torchvision.ops import box_iou

from tests.models.reference import forecasters as reference
from tests.models.sizes import arrays
from torchspeed.models import create_model
from torchspeed.models.gcn import random_graph
from torchspeed.models.yolov3 import OVERLAP, Head, suppress
from torchspeed.workloads import get_workload


def test_boxes_of_a_head_are_decoded_cell_by_cell() -> None:
    head = Head(4, 6, 3, ((10, 14), (23, 27), (37, 58))).double().eval()
    x = torch.randn(2, 4, 5, 5, dtype=torch.float64)
    raw = head.boxes(head.wide(x)).detach().numpy()
    expected = []
    for sample, row, column, anchor in product(range(2), range(5), range(5), range(3)):
        t = raw[sample, anchor * 8 : anchor * 8 + 8, row, column]
        centre = np.array([expit(t[0]) + column, expit(t[1]) + row]) * 32
        half = head.anchors[anchor].numpy() * np.exp(t[2:4]) / 2
        scores = expit(t[4]) * expit(t[5:])
        expected.append(np.concatenate((centre - half, centre + half, scores)))
    actual = head(x, 160).detach().numpy()
    np.testing.assert_allclose(actual, np.reshape(expected, (2, 75, 7)), rtol=1e-6)


def test_a_box_is_suppressed_by_a_better_one_of_its_class_and_image_alone() -> None:
    corners = torch.rand(3, 40, 2) * 2
    edges = torch.cat((corners, corners + 10), 2)  # many overlap by more than 0.8
    boxes = torch.cat((edges, torch.rand(3, 40, 2)), 2)
    found = suppress(boxes, 30)
    assert found.shape == (3, 30, 6)
    for sample, kept in zip(boxes, found, strict=True):
        score, kind = sample[:, 4:].max(1)
        overlaps = box_iou(sample[:, :4], sample[:, :4])
        order = score.argsort(descending=True)[:30].tolist()
        remaining: list[int] = []
        for index in order:
            better = [other for other in remaining if kind[other] == kind[index]]
            if all(overlaps[index, other] <= OVERLAP for other in better):
                remaining.append(index)
        assert 2 <= len(remaining) < 30
        expected = torch.zeros(30, 6)
        for rank, index in enumerate(order):
            if index in remaining:
                expected[rank, :4] = sample[index, :4]
                expected[rank, 4:] = torch.stack((score[index], kind[index].float()))
        torch.testing.assert_close(kept, expected)


@pytest.mark.parametrize(
    ("name", "cells", "convolutions"), [("yolov3", [2, 4, 8], 75), ("yolov3_tiny", [2, 4], 13)]
)
def test_detectors_have_their_scales(name: str, cells: list[int], convolutions: int) -> None:
    model: Any = create_model(name, image_size=64).eval()
    features = model.features(torch.randn(1, 3, 64, 64))
    assert [part.shape[2] for part in features] == cells
    assert sum(isinstance(module, nn.Conv2d) for module in model.modules()) == convolutions
    # Fewer boxes than candidates would not do: 3 for each of 20 or 84 cells.
    few: Any = create_model(name, image_size=64, candidates=60).eval()
    out = few(torch.randn(2, 3, 64, 64))
    assert out.shape == (2, 60, 6)
    assert out.isfinite().all()


def test_an_encoder_is_that_of_the_equations() -> None:
    model: Any = create_model("transformer_encoder", width=8, heads=2, layers=2, inner=12)
    model = model.double().eval()
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    expected = reference.encode(arrays(model), "encoder", x[0].numpy(), 2, 2)
    for actual in (model(x), torch.no_grad()(model)(x)):
        np.testing.assert_allclose(actual[0].detach().numpy(), expected, rtol=1e-9, atol=1e-9)


def test_bert_adds_three_embeddings_and_encodes_them() -> None:
    model: Any = create_model(
        "bert_base", vocabulary=20, length=9, width=8, heads=2, layers=2, inner=12
    )
    model = model.double().eval()
    tokens = torch.randint(20, (1, 6))
    p = arrays(model)
    x = p["word.weight"][tokens[0]] + p["position.weight"][:6] + p["segment.weight"][0]
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    x = (x - mean) / np.sqrt(variance + 1e-12) * p["norm.weight"] + p["norm.bias"]
    expected = reference.encode(p, "encoder", x, 2, 2)
    actual = model(tokens)[0].detach().numpy()
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="the length of tokens must be at most length, 9, got 10"):
        model(torch.zeros(1, 10, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"tokens must be int64 indices .* got \(6,\) of"):
        model(tokens[0])


def test_a_random_graph_has_its_edges_in_both_directions_and_a_loop_at_each_node() -> None:
    graph = random_graph(50, 120).to_dense()
    linked = graph > 0
    assert (linked == linked.T).all()
    assert linked.diagonal().all()
    assert int(linked.sum()) == 2 * 120 + 50
    degree = linked.sum(1).double()
    expected = linked / (degree[:, None] * degree[None]).sqrt()
    torch.testing.assert_close(graph.double(), expected, rtol=1e-6, atol=0)
    assert torch.equal(random_graph(50, 120).to_dense(), graph)
    assert random_graph(4, 6).to_dense().count_nonzero() == 16  # every pair of nodes


def test_a_graph_network_is_two_products_with_the_graph() -> None:
    model: Any = create_model("gcn", nodes=30, edges=40, features=9, hidden=5, classes=4)
    model = model.eval()
    x = torch.randn(3, 30, 9)
    graph = model.graph.to_dense()
    with torch.no_grad():
        model.first_bias.uniform_()
        model.second_bias.uniform_()
        for sample, out in zip(x, model(x), strict=True):
            hidden = torch.relu(graph @ sample @ model.first.weight.T + model.first_bias)
            expected = graph @ hidden @ model.second.weight.T + model.second_bias
            torch.testing.assert_close(out, expected)


def test_a_text_is_of_words_of_the_whole_vocabulary() -> None:
    tokens = get_workload("bert_base_128").example_inputs()
    assert (tokens.dtype, tokens.shape[1]) == (torch.int64, 128)
    assert 0 <= int(tokens.min()) < int(tokens.max()) < 30_522
    assert math.isclose(float(tokens.float().mean()), 15_261, rel_tol=0.1)
