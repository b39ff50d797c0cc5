"""Two versions take samples in turn on one core."""
