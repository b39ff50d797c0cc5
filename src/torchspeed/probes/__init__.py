"""Scripts that asv-watch runs in the measured environment, as asv.conf.json names them."""
