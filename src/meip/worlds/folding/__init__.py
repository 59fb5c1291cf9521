"""Folding clothes: the paper's third experiment (Learning to fold)."""
