"""Values that others published, as data: what was measured, on what, and where it says so."""
