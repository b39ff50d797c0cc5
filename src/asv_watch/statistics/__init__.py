"""Statistics without files or asv: ratios, noise, change points, and the rule of a change."""
