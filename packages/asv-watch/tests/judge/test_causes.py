"""The operator that accounts for a change."""

from dataclasses import replace

import pytest

from asv_watch.comparison import NEVER_RUN
from asv_watch.judge.causes import in_words
from asv_watch.judge.changes import analyse
from asv_watch.records.labels import Layout
from asv_watch.records.store import (
    Explanation,
    KernelChange,
    OperatorDifference,
    StoredExplanation,
)
from asv_watch.versions.version import Version
from tests.judge.test_changes import history_of, noisy
from tests.making import MACHINE, commit_hash, run_of


def _stored(before: int, after: int, seconds: float, torch: str = "2.15.0") -> StoredExplanation:
    old, new = (Version(commit_hash(n), {"torch": torch}, "3.11") for n in (before, after))
    return StoredExplanation(
        case="suite.Suite.time_forward('darnn', 'cpu')",
        at=1,
        before=old,
        after=new,
        explanation=Explanation(seconds=(1.0, seconds), operators=()),
    )


def test_the_newest_explanation_between_the_commits_of_a_change_is_its_own() -> None:
    values = [run_of(value) for value in noisy({38: 1.2})]
    history = history_of([*values[:31], *[NEVER_RUN] * 7, *values[38:]])
    stored = (
        _stored(30, 38, 1.1),
        _stored(36, 37, 1.2),
        _stored(29, 38, 1.3),
        _stored(30, 38, 1.4, "2.14.1"),
    )
    [change] = analyse(replace(history, explanations={MACHINE: stored})).changes
    assert change.explanation is not None
    assert change.explanation.seconds == (1.0, 1.2)


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
OTHER_SHAPE = _operator("aten::mkldnn_convolution", 0.0015, 0.0, shapes="[[3]]")
KERNELS = (
    KernelChange("matmul", "4x5", (), ("jit",)),
    KernelChange("convolution", "mb4", ("brg_conv:avx512_core",), ("ref:any",)),
)
ATTENTION = (
    OperatorDifference("aten::attend", "[[8, 2]]", (6.0, 0.0), (0.127, 0.0), clear=True),
    OperatorDifference("aten::attend_cpu", "[[8, 2]]", (0.0, 6.0), (0.0, 0.084), clear=True),
    OperatorDifference("aten::other", "[[8]]", (0.0, 6.0), (0.0, 0.001), clear=True),
)
UNCHANGED = _operator("aten::relu", 0.001, 0.001)
ADDED = _operator("aten::relu", 0.0, 0.001)
COPIES = _operator("aten::copy_", 0.0651, 0.0), _operator("aten::linear", 0.02, 0.058)
CALL = 0.02, 0.0223
SENTENCES = {
    "83 % of it: aten::mkldnn_convolution, 12.1 → 14.0 ms, "
    "kernel brg_conv:avx512_core → ref:any": (CONVOLUTIONS, CALL, None),
    "9 % of it: aten::relu, 1.00 → 1.20 ms": (CONVOLUTIONS[2:], CALL, None),
    "17 % of it: aten::mkldnn_convolution, 13.6 → 14.0 ms, "
    "kernel brg_conv:avx512_core → ref:any": ((*CONVOLUTIONS, OTHER_SHAPE), CALL, None),
    "no cause found: no operator differs clearly from its noise": (CONVOLUTIONS[3:], CALL, None),
    "no cause found: no operator accounts for the difference": ((UNCHANGED,), CALL, None),
    # The case went the other way, or differs by far more than its operators.
    "no cause found: operators explain +10.5 of −5.0 %": (CONVOLUTIONS, CALL, 0.95),
    "no cause found: operators explain +10.5 of +50.0 %": (CONVOLUTIONS, CALL, 1.5),
    # Another operator offsets a part.
    "more than all of it: aten::copy_, 65.1 ms → 0": (COPIES, (0.1, 0.0729), 0.73),
    "all of it: aten::attend → aten::attend_cpu, 127 → 84.0 ms": (ATTENTION, (0.2, 0.158), 0.79),
    # The profile has no times.
    "all of it: aten::relu, 0 → 1.00 ms": ((ADDED,), (0.0, 0.001), 1.1),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_sentence_names_the_operator_its_share_and_its_kernel(sentence: str) -> None:
    operators, seconds, ratio = SENTENCES[sentence]
    explanation = Explanation(seconds=seconds, operators=operators, kernels=KERNELS)
    assert in_words(explanation, ratio) == sentence


def test_a_project_names_operators_and_says_which_call_a_kernel() -> None:
    layout = Layout(
        operators={"max_pool2d*": "max pooling", "attend*": "attention"},
        operator_prefixes=("aten::", "_", "native_"),
        callers={"inner_product": ("*linear*", "*mm*")},
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
    replaced = Explanation(seconds=(0.2, 0.157), operators=ATTENTION[:2])
    sentence = in_words(replaced, layout=layout, for_people=True)
    assert sentence == "all of it: attention, 127 → 84.0 ms"

    kernels = (KernelChange("inner_product", "4x5", ("brg",), ("ref:any",)),)
    added = (_operator("aten::addmm", 0.01, 0.02),)
    explanation = Explanation(seconds=(0.02, 0.03), operators=added, kernels=kernels)
    assert "kernel" not in in_words(explanation)
    assert in_words(explanation, layout=layout).endswith("20.0 ms, kernel brg → ref:any")
