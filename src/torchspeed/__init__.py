"""Continuous benchmarks of PyTorch time-series and CNN models.

The measured side (``models``, ``workloads``, ``measure``) needs torch and runs
inside asv's environments. The watching side (``history``, ``site``,
``driver``) does not, and runs on any machine. This file imports neither.
"""
