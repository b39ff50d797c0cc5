"""What the measurements mean: rules, statistics, noise, change points, comparisons."""
