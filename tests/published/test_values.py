import ast
import importlib

from torchspeed.published.values import SITE_VALUES, site_rows, site_values


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
