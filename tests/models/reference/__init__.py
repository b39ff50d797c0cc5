"""Slow models, written straight from the papers' equations, to check the fast ones by.

A file a model, each with one function ``predict(weights, x)`` that takes the fast
model's parameters by name and a batch, and works on one sample and one time step
after the other. They share no code with ``torchspeed.models``.
"""
