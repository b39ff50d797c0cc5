"""The ``torchspeed`` command: train, infer, sweep, list, info."""
