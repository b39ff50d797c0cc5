import ast
import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from torchspeed.published.values import (
    SITE_VALUES,
    PublishedValue,
    load_sources,
    site_rows,
    site_values,
)
from torchspeed.workloads import list_workloads

SOURCES = {source.key: source for source in load_sources()}
VALUES = [(source, published) for source in SOURCES.values() for published in source.values]


def find(key: str, quantity: str, **labels: str) -> list[PublishedValue]:
    return [
        published
        for published in SOURCES[key].values
        if published.quantity == quantity and labels.items() <= published.labels.items()
    ]


def test_every_table_of_every_source_is_whole() -> None:
    counted = Counter((source.key, published.table) for source, published in VALUES)
    assert counted == {
        ("fluxarchitectures", "Jetson Nano"): 4 * 4,
        ("fluxarchitectures", "MacBook Pro"): 4 * 2,
        ("fluxarchitectures_training", "Five Adam steps"): 4 * 6,
        ("flux_blog", "One epoch"): 2,
        ("benchmarkjade", "Inference and training of ResNet-50, seconds a step"): 10 * 2 + 10 * 3,
        ("benchmarkjade", "Smooth inference of ResNet-50, seconds an item"): 10 * 3,
        ("dl_benchmark", "LeNet on MNIST against the number of workers"): 8 * 5,
        ("dl_benchmark", "LeNet on MNIST against the batch size"): 10 * 5,
        ("exchange_rate", "Exchange rates, root relative squared error and correlation"): 8 * 2,
    }


def test_units_are_si() -> None:
    [published] = find("fluxarchitectures", "time", model="darnn", device="cuda")[:1]
    assert (published.value, published.unit) == (13.808, "s")
    [published] = find("flux_blog", "epoch time", device="cuda")
    assert published.value == pytest.approx(0.828756)
    accuracy = find("dl_benchmark", "best training accuracy", framework="PyTorch", workers="16")
    assert (accuracy[0].value, accuracy[0].unit) == (98.922, "%")


def test_backward_costs_more_than_forward_wherever_both_are_published() -> None:
    # Whichever column a number is put into by mistake, this fails.
    for labels in ({"model": m} for m in ("darnn", "dsanet", "lstnet", "tpa_lstm")):
        by_pass = [find("fluxarchitectures", "time", **labels, **{"pass": p})
                   for p in ("forward", "backward")]  # fmt: skip
        assert all(f.value < b.value for f, b in zip(*by_pass, strict=True))


def test_a_value_is_shown_with_a_case_that_is_measured() -> None:
    for name in {row["case"] for row in site_rows()}:
        call = ast.parse(name, mode="eval").body
        assert isinstance(call, ast.Call)
        suite, owner, function = ast.unparse(call.func).split(".")
        owner_class = getattr(importlib.import_module(f"benchmarks.{suite}"), owner)
        assert hasattr(owner_class, function), name
        for choices, value in zip(owner_class.params, call.args, strict=True):
            assert ast.literal_eval(value) in choices, name


def test_the_published_trainings_are_of_workloads_that_do_the_same_work() -> None:
    models = {f.labels["model"] for f in SOURCES["fluxarchitectures_training"].values}
    trained = list_workloads("flux_training")
    assert models == {name for name in trained if name.endswith("_literal")}


def test_reading_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['asv'] = None\n"
        "from torchspeed.published.values import load_sources\n"
        "print(sum(len(source.values) for source in load_sources()))"
    )
    source = str(Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": source},
        check=True,
    )
    assert int(done.stdout) == len(VALUES)


def test_the_file_that_the_site_reads_is_current() -> None:
    """`python -m torchspeed.published.values` writes it from the TOML files."""
    assert SITE_VALUES.read_text(encoding="utf-8") == site_values()
