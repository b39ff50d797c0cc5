"""Everything that runs outside the measured process; nothing here imports torch."""
