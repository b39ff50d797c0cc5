"""Models written for a GPU: fewer kernels, or less work in each."""
