"""What changed between two profiles, beyond their noise."""

from collections.abc import Callable
from pathlib import Path

from asv_watch.explain import Profile, compare_profiles, report
from tests.clockwork import SUITE, package
from tests.conftest import commit
from tests.interruptible import run_driver


def _profile(implementation: str, **seconds: float) -> Profile:
    return {
        "operators": [
            {"name": name, "shapes": "[]", "calls": 1.0, "seconds": value}
            for name, value in seconds.items()
        ],
        "kernels": [
            {"primitive": "convolution", "implementation": implementation, "problem": "mb4"}
        ],
        "counts": {"dispatches": 2},
    }


def test_a_kernel_that_changed_and_only_operators_beyond_their_noise_are_named() -> None:
    fast, slow = "brg:avx512", "ref:any"
    before = [_profile(fast, slow=1.0, noisy=1.0), _profile(fast, slow=1.1, noisy=9.0)]
    after = [_profile(slow, slow=2.0, noisy=8.0), _profile(slow, slow=2.1, noisy=8.0)]
    explanation = compare_profiles(before, after)
    found = [(each.name, each.clear) for each in explanation.operators]
    assert found == [("slow", True), ("noisy", False)]
    text = report(explanation, "A", "B")
    assert "Kernels of convolution mb4: brg:avx512 → ref:any" in text
    assert "noisy" not in text
    assert "of it: slow, 1.00 → 2.00 s" in text
    back = compare_profiles(after, before).operators[0]
    assert (back.name, back.difference) == ("slow", -1.0)
    unchanged = report(compare_profiles(before, before), "A", "B")
    assert "No cause found: no operator differs clearly from its noise." in unchanged
    assert "Kernels" not in unchanged


def test_an_operator_that_replaced_many_is_listed_beside_them() -> None:
    many = {f"gone{number}": 1.0 for number in range(40)}
    before = [_profile("a", new=0.0, **many)] * 2
    after = [_profile("a", new=39.0, **dict.fromkeys(many, 0.0))] * 2
    first = compare_profiles(before, after).operators[0]
    assert (first.name, first.difference) == ("new", 39.0)


def test_what_is_no_profile_is_named(make_project: Callable[..., Path], tmp_path: Path) -> None:
    printed = '{"operators": [{"name": "aten::add"}], "kernels": [], "counts": {}}'
    files = {"profiler.py": f"print({printed!r})", "src/package.py": package()}
    project = make_project(SUITE, files, profiler="profiler.py")
    commit(project, {"README": "."}, "Write docs")
    _, errors = run_driver("explain", project, tmp_path, "--cases", "slow", status=1)
    [line] = errors.splitlines()
    assert "profiler.py printed no profile (Object missing required field `shapes`" in line
