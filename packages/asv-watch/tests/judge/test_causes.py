"""The operator that accounts for a change."""

from dataclasses import replace

import pytest

from asv_watch.judge.causes import in_words
from asv_watch.judge.changes import Change, analyse
from asv_watch.records.history import History
from asv_watch.records.labels import Layout
from asv_watch.records.records import NEVER_RUN
from asv_watch.records.store import (
    Explanation,
    KernelChange,
    OperatorDifference,
    StoredExplanation,
)
from asv_watch.versions.version import Version
from tests.judge.test_changes import history_of, noisy
from tests.making import MACHINE, commit_hash, run_of

CASE = "suite.Suite.time_forward('darnn', 'cpu')"


def _change_of_a_gap() -> History:
    """A case that is slower from commit 38 on; commits 31 to 37 were not measured."""
    values = [run_of(value) for value in noisy({38: 1.2})]
    return history_of([*values[:31], *[NEVER_RUN] * 7, *values[38:]])


def _only_change(history: History) -> Change:
    [change] = analyse(history).changes
    return change


def _explanation(
    before: int, after: int, seconds: float, torch: str = "2.15.0"
) -> StoredExplanation:
    versions = [Version(commit_hash(n), {"torch": torch}, "3.11") for n in (before, after)]
    explanation = Explanation(seconds=(1.0, seconds), operators=())
    return StoredExplanation(
        case=CASE, at=1, before=versions[0], after=versions[1], explanation=explanation
    )


def test_the_newest_explanation_between_the_commits_of_a_change_is_its_own() -> None:
    history = _change_of_a_gap()
    stored = (
        _explanation(30, 38, 1.1),
        _explanation(36, 37, 1.2),
        _explanation(29, 38, 1.3),
        _explanation(30, 38, 1.4, "2.14.1"),
    )
    explanation = _only_change(replace(history, explanations={MACHINE: stored})).explanation
    assert explanation is not None
    assert explanation.seconds == (1.0, 1.2)


def _operator(
    name: str, before: float, after: float, *, clear: bool = True, shapes: str = "[]"
) -> OperatorDifference:
    return OperatorDifference(name, shapes, (1.0, 1.0), (before, after), clear)


CONVOLUTIONS = (
    _operator("aten::mkldnn_convolution", 0.0121, 0.0131, shapes="[[1]]"),
    _operator("aten::mkldnn_convolution", 0.0, 0.0009, shapes="[[2]]"),
    _operator("aten::relu", 0.001, 0.0012),
    _operator("aten::noisy", 0.001, 0.009, clear=False),
)
KERNELS = (
    KernelChange("matmul", "4x5", (), ("jit",)),
    KernelChange("convolution", "mb4", ("brg_conv:avx512_core",), ("ref:any",)),
)


@pytest.mark.parametrize(
    ("operators", "kernels", "sentence"),
    [
        (
            CONVOLUTIONS,
            KERNELS,
            "83 % of it: aten::mkldnn_convolution, 12.1 → 14.0 ms, "
            "kernel brg_conv:avx512_core → ref:any",
        ),
        (
            CONVOLUTIONS[2:],
            KERNELS,
            "9 % of it: aten::relu, 1.00 → 1.20 ms",
        ),
        (
            (*CONVOLUTIONS, _operator("aten::mkldnn_convolution", 0.0015, 0.0, shapes="[[3]]")),
            (),
            "17 % of it: aten::mkldnn_convolution, 13.6 → 14.0 ms",
        ),
        (CONVOLUTIONS[3:], KERNELS, "no cause found: no operator differs clearly from its noise"),
        (
            (_operator("aten::relu", 0.001, 0.001),),
            KERNELS,
            "no cause found: no operator accounts for the difference",
        ),
    ],
)
def test_the_sentence_names_the_operator_its_share_and_its_kernel(
    operators: tuple[OperatorDifference, ...],
    kernels: tuple[KernelChange, ...],
    sentence: str,
) -> None:
    explanation = Explanation(seconds=(0.02, 0.0223), operators=operators, kernels=kernels)
    assert in_words(explanation) == sentence


@pytest.mark.parametrize(("ratio", "case"), [(0.95, "−5.0 %"), (1.5, "+50.0 %")])
def test_operators_that_differ_otherwise_than_the_case_are_not_named_as_its_cause(
    ratio: float, case: str
) -> None:
    explanation = Explanation(seconds=(0.02, 0.0223), operators=CONVOLUTIONS)
    assert in_words(explanation, ratio) == f"no cause found: operators explain +10.5 of {case}"


ATTENTION = (
    OperatorDifference("aten::attend", "[[8, 2]]", (6.0, 0.0), (0.127, 0.0), clear=True),
    OperatorDifference("aten::attend_cpu", "[[8, 2]]", (0.0, 6.0), (0.0, 0.084), clear=True),
    OperatorDifference("aten::other", "[[8]]", (0.0, 6.0), (0.0, 0.001), clear=True),
)


@pytest.mark.parametrize(
    ("seconds", "ratio", "operators", "sentence"),
    [
        (
            (0.1, 0.0729),
            0.73,
            (_operator("aten::copy_", 0.0651, 0.0), _operator("aten::linear", 0.02, 0.058)),
            "more than all of it: aten::copy_, 65.1 ms → 0",
        ),
        (
            (0.2, 0.158),
            0.79,
            ATTENTION,
            "all of it: aten::attend → aten::attend_cpu, 127 → 84.0 ms",
        ),
        (
            (0.0, 0.001),
            1.1,
            (_operator("aten::relu", 0.0, 0.001),),
            "all of it: aten::relu, 0 → 1.00 ms",
        ),
    ],
    ids=["others offset a part", "it was replaced", "the profile has no times"],
)
def test_the_share_is_that_of_the_case(
    seconds: tuple[float, float],
    ratio: float,
    operators: tuple[OperatorDifference, ...],
    sentence: str,
) -> None:
    assert in_words(Explanation(seconds=seconds, operators=operators), ratio) == sentence


def test_a_project_says_which_operators_call_a_kernel() -> None:
    operators = (_operator("aten::addmm", 0.01, 0.02),)
    kernels = (KernelChange("inner_product", "4x5", ("brg",), ("ref:any",)),)
    explanation = Explanation(seconds=(0.02, 0.03), operators=operators, kernels=kernels)
    assert "kernel" not in in_words(explanation)
    layout = Layout(callers={"inner_product": ("*linear*", "*mm*")})
    assert in_words(explanation, layout=layout).endswith("20.0 ms, kernel brg → ref:any")


def test_operators_have_the_names_that_a_project_gives_them() -> None:
    layout = Layout(
        operators={"max_pool2d*": "max pooling", "attend*": "attention"},
        operator_prefixes=("aten::", "_", "native_"),
    )
    names = {
        "aten::max_pool2d_with_indices": "max pooling",
        "aten::native_layer_norm": "layer norm",
        "aten::_softmax": "softmax",
        "aten::copy_": "copy",
        "solve_all": "solve all",
    }
    assert {name: layout.operator(name) for name in names} == names
    assert Layout().operator("aten::copy_") == "aten::copy", "no project's names are built in"
    explanation = Explanation(seconds=(0.2, 0.157), operators=ATTENTION[:2])
    sentence = in_words(explanation, layout=layout, for_people=True)
    assert sentence == "all of it: attention, 127 → 84.0 ms"
