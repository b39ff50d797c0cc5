"""Figures that others published for models of the same names.

They stand beside ours for scale, not for a race: other machines, another language, and
mostly other work behind the same name. The recurrent Flux models run their recurrence
along the batch and not along time (see ``docs/models.md``).
"""

from __future__ import annotations

from typing import Any

_SOURCE = "FluxArchitectures' documentation, page Benchmarks, Julia 1.6.2"
_NOTE = "Flux's model does other work than the paper's, which is measured here."

# Seconds of one pass, as the page states them in ms or s.
_JETSON_NANO = {
    "darnn": {
        ("cpu", "forward"): 91.290e-3,
        ("cuda", "forward"): 13.808,
        ("cpu", "backward"): 1.810,
        ("cuda", "backward"): 39.654,
    },
    "dsanet": {
        ("cpu", "forward"): 222.675e-3,
        ("cuda", "forward"): 556.588e-3,
        ("cpu", "backward"): 796.776e-3,
        ("cuda", "backward"): 1.409,
    },
    "lstnet": {
        ("cpu", "forward"): 18.256e-3,
        ("cuda", "forward"): 1.452,
        ("cpu", "backward"): 428.595e-3,
        ("cuda", "backward"): 7.799,
    },
    "tpa_lstm": {
        ("cpu", "forward"): 23.069e-3,
        ("cuda", "forward"): 5.632,
        ("cpu", "backward"): 1.572,
        ("cuda", "backward"): 18.750,
    },
}
_CORE_I5 = {
    "darnn": {("cpu", "forward"): 29.191e-3, ("cpu", "backward"): 528.621e-3},
    "dsanet": {("cpu", "forward"): 137.335e-3, ("cpu", "backward"): 395.298e-3},
    "lstnet": {("cpu", "forward"): 3.455e-3, ("cpu", "backward"): 103.729e-3},
    "tpa_lstm": {("cpu", "forward"): 7.885e-3, ("cpu", "backward"): 435.726e-3},
}


def published_figures() -> tuple[dict[str, Any], ...]:
    """Every published figure as the index lists it (``docs/site-data.md``)."""
    return tuple(
        {
            "model": model,
            "device": device,
            "pass": direction,
            "batch": "",
            "value": seconds,
            "unit": "seconds",
            "source": f"{machine}: {_SOURCE}",
            "note": _NOTE,
        }
        for machine, table in (
            ("Jetson Nano", _JETSON_NANO),
            ("Intel Core i5 2.9 GHz (2016)", _CORE_I5),
        )
        for model, figures in table.items()
        for (device, direction), seconds in figures.items()
    )
