"""Models in torch's fused kernels, written to launch fewer of them on a GPU."""
