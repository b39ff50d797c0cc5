import ast
import importlib
from collections import Counter

from torchspeed.published.values import SITE_VALUES, published_values, site_rows, site_values


def test_every_table_of_every_source_is_whole() -> None:
    counted = Counter((row["source"], row["title"]) for row in published_values())
    assert counted == {
        ("fluxarchitectures", "Jetson Nano"): 4 * 4,
        ("fluxarchitectures", "MacBook Pro"): 4 * 2,
        ("fluxarchitectures", "JuliaHub"): 4 * 4,
        ("fluxarchitectures_training", "Five Adam steps"): 4 * 6,
        ("flux_blog", "One epoch"): 2,
        ("benchmarkjade", "Inference and training of ResNet-50, seconds a step"): 14 * 2 + 14 * 3,
        ("benchmarkjade", "Smooth inference of ResNet-50, seconds an item"): 12 * 3,
        ("benchmarkjade", "Expected speed of training, as a multiple of another machine's"): 4,
        ("dl_benchmark", "LeNet on MNIST against the number of workers"): 8 * 5,
        ("dl_benchmark", "LeNet on MNIST against the batch size"): 10 * 5,
        ("exchange_rate", "Exchange rates, root relative squared error and correlation"): 8 * 2,
    }


def test_a_value_is_shown_with_a_case_that_is_measured() -> None:
    for name in {row["case"] for row in site_rows()}:
        call = ast.parse(name, mode="eval").body
        assert isinstance(call, ast.Call)
        suite, owner, function = ast.unparse(call.func).split(".")
        owner_class = getattr(importlib.import_module(f"benchmarks.{suite}"), owner)
        assert hasattr(owner_class, function), name
        for choices, value in zip(owner_class.params, call.args, strict=True):
            assert ast.literal_eval(value) in choices, name


def test_the_file_that_the_site_reads_is_current() -> None:
    """`python -m torchspeed.published.values` writes it from the TOML files."""
    assert SITE_VALUES.read_text(encoding="utf-8") == site_values()
