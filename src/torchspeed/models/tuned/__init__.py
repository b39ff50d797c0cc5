"""Models reformulated for speed, with the parameters and the function of the plain ones."""
