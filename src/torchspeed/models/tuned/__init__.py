"""Models reformulated for speed: the parameters and the function of the plain ones."""
