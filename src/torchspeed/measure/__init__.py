"""What runs inside a timed process: clocks and the passes they time."""
