"""The models as one first writes them in PyTorch: the baseline of speed comparisons.

Each takes the structure of the original PyTorch code (its modules, its loops, its
repeats and reshapes) and the weights of one of our models, so that the two can be
checked to compute the same. LSTNet's is the exception: the original's GRU has a tanh.
"""
