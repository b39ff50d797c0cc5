"""Values that others published, as data, with what was measured, the hardware and the source."""
