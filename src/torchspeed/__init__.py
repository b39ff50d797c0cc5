"""Continuous benchmarks of PyTorch time-series and CNN models.

``models``, ``measure``, ``data`` and ``training`` need torch and run inside asv's environments.
This file imports none of them, so that ``workloads`` and ``published`` are read without torch.
"""
