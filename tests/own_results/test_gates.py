"""Gates on rounds that a machine measured are as sure as docs/notes/noise.md says."""

from __future__ import annotations

from tests.own_results.simulate_gates import CASES, MACHINE, RESULTS, GateSimulator


def test_gates_on_rounds_of_a_machine_call_no_harmless_case_slower_and_find_10_percent() -> None:
    harmless = GateSimulator(RESULTS, MACHINE, seed=1).gates(15, 0.0)
    assert (harmless.cases, harmless.slower) == (15 * CASES, 0)
    slower = GateSimulator(RESULTS, MACHINE, seed=1).gates(5, 0.1)
    assert slower.slower >= 0.95 * slower.cases
