"""Statistics of interleaved comparisons: ratios, their graph, and the rule of a change."""
