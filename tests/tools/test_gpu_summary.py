"""What stored results of a GPU's machine say of GPU and CPU, of graphs, and of processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.gpu.differences import conclusion
from tools.gpu.prepare import ROOT
from tools.gpu.summary import (
    Value,
    _spread,
    crossing,
    crossings,
    faster_on_gpu,
    graphs_near_kernels,
    main,
    summary,
)

TIMES = st.dictionaries(st.integers(1, 9), st.floats(0.1, 10))


@given(TIMES, TIMES)
def test_from_its_crossing_on_a_gpu_is_faster_and_just_below_it_is_not(
    gpu: dict[int, float], cpu: dict[int, float]
) -> None:
    first = crossing(gpu, cpu)
    common = sorted(set(gpu) & set(cpu))
    above = [batch for batch in common if first is not None and batch >= first]
    below = [batch for batch in common if batch not in above]
    assert all(gpu[batch] < cpu[batch] for batch in above)
    assert not below or gpu[below[-1]] >= cpu[below[-1]]


def _value(case: str, level: str, seconds: float, metric: str = "time", **labels: str) -> Value:
    return Value(case, {"pass": "forward", "metric": metric, **labels}, level, seconds)


def _batch(model: str, device: str, threads: str, batch: str, seconds: float) -> Value:
    labels = {"model": model, "device": device, "threads": threads, "batch": batch}
    return _value(f"batches.A.time_forward {labels}", "", seconds, **labels)


def test_the_gpu_is_compared_with_the_best_number_of_threads_at_each_batch() -> None:
    values = [
        _batch("dlinear", "cpu", "1", "1", 1e-4),
        _batch("dlinear", "cpu", "all", "1", 9e-4),
        _batch("dlinear", "cpu", "1", "source", 4e-3),
        _batch("dlinear", "cpu", "all", "source", 2e-3),
        _batch("dlinear", "cuda", "1", "1", 2e-4),
        _batch("dlinear", "cuda", "1", "source", 1e-3),
        _batch("dlinear", "cuda", "1", "256", 1e-3),
        _batch("tcn", "cpu", "1", "1", 2.0),
        _batch("tcn", "cuda", "1", "1", 1.0),
        _batch("nhits", "cpu", "1", "1", 1.0),
        _batch("nhits", "cuda", "1", "1", 2.0),
    ]
    rows = [line.strip("| ").split("|") for line in crossings(values).splitlines()[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["`dlinear`", "forward", "from 32", "1: 5,000 / 10,000 \xb7 32: 32,000 / 16,000"],
        ["`tcn`", "forward", "at every measured batch", "1: 1.00 / 0.500"],
        ["`nhits`", "forward", "at none", "1: 0.500 / 1.00"],
    ]
    assert crossings(values[:4]) == "No batch was measured on both devices."


def _eager(model: str, device: str, seconds: float, level: str = "tuned") -> Value:
    return _value(f"{model} {device} {level}", level, seconds, model=model, device=device)


def test_a_model_that_is_slower_on_the_gpu_or_lacks_a_value_is_named() -> None:
    values = [
        _eager("darnn", "cuda", 2e-3),
        _eager("darnn", "cuda", 1e-3, "plain"),
        _eager("darnn", "cuda", 1e-9, "compiled"),
        _eager("darnn", "cpu", 9e-3),
        _eager("darnn", "cpu", 3e-3, "best number of threads"),
    ]
    yes = faster_on_gpu(values)
    assert yes.startswith("Yes: it holds for 1 of 1 passes.")
    assert "3.00 (1.00 ms tuned, CPU 3.00 ms)" in yes
    values += [_eager("lstnet", "cuda", 1e-3)]
    unknown = faster_on_gpu(values)
    assert unknown.startswith("Not known: ")
    assert "there is no value for lstnet forward" in unknown
    values += [_eager("tpa_lstm", "cuda", 2e-3), _eager("tpa_lstm", "cpu", 1e-3)]
    no = faster_on_gpu(values)
    assert no.startswith("No: it holds for 1 of 3 passes; it does not for tpa_lstm forward")


def test_a_graph_is_compared_with_the_kernels_of_its_own_implementation() -> None:
    labels = {"model": "darnn", "device": "cuda"}
    values = [
        _value("graph", "CUDA graph", 3.1, implementation="fused", **labels),
        _value("other graph", "CUDA graph", 9.0, **labels),
        _value("kernels", "", 2.0, "kernel seconds", implementation="fused", **labels),
        _value("other kernels", "", 0.1, "kernel seconds", implementation="plain", **labels),
    ]
    assert graphs_near_kernels(values).startswith("Yes: ")
    values += [_value("again", "", 1.0, "kernel seconds", implementation="fused", **labels)]
    assert graphs_near_kernels(values).startswith("No: it holds for 0 of 1 passes")
    assert graphs_near_kernels(values[:2]) == "Not known: there is nothing to compare with."
    assert graphs_near_kernels([]) == "Nothing was measured."


def _process(pinned: bool, single: float, batch: float, loop: float, replay: float) -> Any:
    one = {
        "singles_s": [single, 2 * single],
        "batches": [{"wall_s": batch, "thread_s": batch, "loop_s": loop}],
        "replays_s": [replay],
    }
    return {"kind": "spread", "pinned": pinned, "forward": one, "backward": one}


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        (lambda n: (1.0, 1.0, 1.0, 1.0), "unpinned processes differ, pinned ones do not"),
        (lambda n: (1 + 0.2 * n, 1.0, 1.0, 1.0), "single calls differ, batches do not"),
        (lambda n: (1.0, 1 + 0.1 * n, 1 + 0.1 * n, 1.0), "the speed of the host varies"),
        (lambda n: (1.0, 1 + 0.1 * n, 1.0, 1 + 0.1 * n), "the clock of the device varies"),
        (lambda n: (1.0, 1 + 0.1 * n, 1.0, 1.0), "which leaves the memory's layout"),
    ],
)
def test_the_reason_why_processes_differ_is_told_from_what_else_differs(
    times: Callable[[int], tuple[float, float, float, float]], reason: str
) -> None:
    pinned = [_process(True, *times(number)) for number in range(3)]
    unpinned = [_process(False, 1.0, 1 + 0.5 * number, 1.0, 1.0) for number in range(3)]
    text = conclusion([*pinned, {"pinned": True, "failed": "no memory"}, *unpinned])
    assert text.startswith("Report batches of pinned processes")
    assert reason in text
    assert conclusion([*pinned, *unpinned[1:]]).startswith("Not known: ")


def test_the_reason_is_about_the_processes_that_are_reported() -> None:
    pinned = [_process(True, 1.0, 1 + 0.5 * number, 1.0, 1.0) for number in range(3)]
    unpinned = [_process(False, 1.0, 1.0, 1.0, 1.0) for _ in range(3)]
    text = conclusion([*pinned, *unpinned])
    assert text.startswith("Report batches of unpinned processes")
    assert "pinned processes differ, unpinned ones do not" in text


def test_times_follow_a_loop_only_if_both_passes_do() -> None:
    pinned = [_process(True, 1.0, 1 + 0.1 * n, 1 + 0.1 * n, 1.0) for n in range(3)]
    for line, loop in zip(pinned, (1.0, 1.2, 1.0), strict=True):
        line["backward"] = _process(True, 1.0, line["forward"]["batches"][0]["wall_s"], loop, 1.0)[
            "backward"
        ]
    unpinned = [_process(False, 1.0, 1 + 0.5 * number, 1.0, 1.0) for number in range(3)]
    assert "the memory's layout" in conclusion([*pinned, *unpinned])


def test_the_newest_session_with_processes_tells_their_spread(tmp_path: Path) -> None:
    folder = tmp_path / "gpu"
    folder.mkdir()
    sessions = {
        "1": [_process(True, 1.0, 1 + n, 1.0, 1.0) for n in range(3)]
        + [_process(False, 1.0, 1 + n, 1.0, 1.0) for n in range(3)],
        "2": [_process(pinned, 1.0, 1.0, 1.0, 1.0) for pinned in (True, False) for _ in range(3)],
        "3": [{"kind": "tests"}],
    }
    for name, lines in sessions.items():
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        (folder / f"session-{name}.jsonl").write_text(text)
    assert "no processes differ" in _spread(tmp_path, "gpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "required: machine"), (["h2000"], "no machine 'h2000'; choose one of ci-2core")],
)
def test_a_machine_that_is_missing_or_misspelt_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err


def test_a_machine_without_values_of_both_devices_is_no_error() -> None:
    text = summary(ROOT / "results", "ci-2core")
    assert "No batch was measured on both devices." in text
    assert text.count("Nothing was measured.") == 2
