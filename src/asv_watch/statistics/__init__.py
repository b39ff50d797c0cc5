"""Numbers alone: ratios of interleaved samples, noise, change points, and the rule of a change."""
