"""Continuous benchmarks of PyTorch time-series and CNN models.

The measuring half (``models``, ``workloads``, ``measure``, ``training``) needs torch and runs
inside asv's environments. The watching half (``watch``) does not need it, and runs on any
machine. This file imports neither.
"""
