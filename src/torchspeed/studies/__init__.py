"""What runs many trainings: sweeps over settings, and what others published, with figures."""
