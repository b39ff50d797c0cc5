"""Training and inference with every step's time split into its phases."""
