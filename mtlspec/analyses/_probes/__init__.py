"""Probes: every head of every model asked for labels of words and pairs of words, without training anything."""
