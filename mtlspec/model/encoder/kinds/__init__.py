"""Encoder kinds, one file each: what reads the sub-tokens."""
