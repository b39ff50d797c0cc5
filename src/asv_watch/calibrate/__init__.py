"""How noisy a machine is."""
