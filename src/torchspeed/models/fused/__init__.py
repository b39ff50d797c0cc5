"""The models in torch's fused kernels, so that a GPU has fewer of them to launch."""
